package sluice.scans;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestReader;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.spark.sql.classic.SparkSession;
import sluice.collections.LruMap;
import sluice.rowgroups.ScanRowGroups;

/**
 * The totals of snapshots, counted from their manifests once and kept, because a snapshot never changes.
 *
 * <p>A commit costs the manifests that it wrote: the others are the last snapshot's, and never change either.
 */
final class SnapshotTotals {

    private static final int SNAPSHOTS_KEPT = 512;
    private static final int MANIFESTS_KEPT = 4096;

    private final Map<String, ScanTotals> totalsOfSnapshot = new LruMap<>(SNAPSHOTS_KEPT);
    private final Map<String, ScanTotals> totalsOfName = new LruMap<>(SNAPSHOTS_KEPT);
    private final Map<String, ManifestCounts> countsOfManifest = new LruMap<>(MANIFESTS_KEPT);

    private record ManifestCounts(Set<String> partitions, long files, long bytes, long rows, long rowGroups) {}

    /**
     * Returns the totals of a table by its name in SQL.
     *
     * <p>The catalog is asked outside of the lock, which every query takes.
     */
    ScanTotals of(SparkSession session, String name, long snapshotId) throws Exception {
        String key = name + ":" + snapshotId;
        synchronized (totalsOfName) {
            ScanTotals known = totalsOfName.get(key);
            if (known != null) {
                return known;
            }
        }
        Table table = Spark3Util.loadIcebergTable(session, name);
        if (table.snapshot(snapshotId) == null) {
            // The table was opened before this snapshot was committed.
            table.refresh();
        }
        ScanTotals totals = of(table, table.snapshot(snapshotId));
        synchronized (totalsOfName) {
            totalsOfName.put(key, totals);
        }
        return totals;
    }

    /** Returns the totals of a table's snapshot. */
    synchronized ScanTotals of(Table table, Snapshot snapshot) throws IOException {
        String key = table.uuid() + ":" + snapshot.snapshotId();
        ScanTotals known = totalsOfSnapshot.get(key);
        if (known == null) {
            known = counted(table, snapshot);
            totalsOfSnapshot.put(key, known);
        }
        return known;
    }

    /** Returns a name for the partition of a file, which no other partition of the table has. */
    static String partitionKey(PartitionSpec spec, DataFile file) {
        return spec.specId() + ":" + spec.partitionToPath(file.partition());
    }

    private ScanTotals counted(Table table, Snapshot snapshot) throws IOException {
        Set<String> partitions = new HashSet<>();
        long files = 0;
        long bytes = 0;
        long rows = 0;
        long rowGroups = 0;
        List<ManifestFile> manifests = snapshot.dataManifests(table.io());
        for (ManifestFile manifest : manifests) {
            ManifestCounts counts = countsOfManifest.get(manifest.path());
            if (counts == null) {
                counts = counted(table, manifest);
                countsOfManifest.put(manifest.path(), counts);
            }
            partitions.addAll(counts.partitions);
            files += counts.files;
            bytes += counts.bytes;
            rows += counts.rows;
            rowGroups = ScanRowGroups.sum(rowGroups, counts.rowGroups);
        }
        return new ScanTotals(partitions.size(), files, bytes, rows, manifests.size(), rowGroups);
    }

    private static ManifestCounts counted(Table table, ManifestFile manifest) throws IOException {
        Set<String> partitions = new HashSet<>();
        long files = 0;
        long bytes = 0;
        long rows = 0;
        long rowGroups = 0;
        PartitionSpec spec = table.specs().get(manifest.partitionSpecId());
        try (ManifestReader<DataFile> reader = ManifestFiles.read(manifest, table.io(), table.specs())) {
            for (DataFile file : reader) {
                partitions.add(partitionKey(spec, file));
                files++;
                bytes += file.fileSizeInBytes();
                rows += file.recordCount();
                rowGroups = ScanRowGroups.sum(rowGroups, ScanRowGroups.of(file));
            }
        }
        return new ManifestCounts(partitions, files, bytes, rows, rowGroups);
    }
}
