package sluice.tables;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.ContentFileParser;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestWriter;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotParser;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.inmemory.InMemoryOutputFile;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.iceberg.util.JsonUtil;
import org.apache.iceberg.util.SnapshotUtil;
import org.apache.spark.sql.SparkSession;

/**
 * Builds snapshots from data files and deletes, and commits none of them.
 *
 * <p>Nothing is validated against other commits. An equality delete names no file: it reaches everything that was
 * committed before it, and nothing that is committed after it. Deletion vectors are of the snapshot that the new one
 * follows, and the commit requires that it is still the newest one.
 */
public final class RowDeltas {

    private static final long SNAPSHOT_ID = 1;

    /**
     * Writes the manifests of one snapshot, without the table's delete files that are `replaced`, and returns its JSON. Nothing: the table's metadata is no longer the one
     * at that location. Any other answer names the file whose JSON cannot be read, by its place among data and
     * deletes, and why; see `unreadable`.
     */
    public String prepare(
            SparkSession session,
            String name,
            String metadataLocation,
            String branch,
            List<String> data,
            List<String> deletes,
            List<String> replaced,
            Map<String, String> summary)
            throws Exception {
        var table = (HasTableOperations) Spark3Util.loadIcebergTable(session, name);
        TableOperations operations = table.operations();
        TableMetadata base = operations.current();
        if (!metadataLocation.equals(base.metadataFileLocation())) {
            base = operations.refresh();
        }
        if (!metadataLocation.equals(base.metadataFileLocation())) {
            return "";
        }
        RowDelta delta = new BaseTable(new Standing(operations, base), name).newRowDelta();
        String reason = added(data, deletes, base, delta);
        if (reason != null) {
            return reason;
        }
        for (String each : replaced) {
            delta.removeDeletes((DeleteFile) file(each, base));
        }
        Snapshot head = SnapshotUtil.latestSnapshot(base, branch);
        if (head != null) {
            // Otherwise, a vector that replaces another one of any age would be a conflict.
            delta.validateFromSnapshot(head.snapshotId());
        }
        summary.forEach(delta::set);
        delta.toBranch(branch);
        try {
            return SnapshotParser.toJson(delta.apply());
        } catch (RuntimeException failure) {
            reason = undescribable(data, deletes, base);
            if (reason != null) {
                return reason;
            }
            throw failure;
        }
    }

    /** Adds the files to the delta. Returns why one of them cannot be read; null: all are added. */
    private static String added(List<String> data, List<String> deletes, TableMetadata base, RowDelta delta) {
        int place = 0;
        try {
            for (String each : data) {
                delta.addRows((DataFile) file(each, base));
                place++;
            }
            for (String each : deletes) {
                delta.addDeletes((DeleteFile) file(each, base));
                place++;
            }
            return null;
        } catch (RuntimeException failure) {
            return unreadable(place, failure);
        }
    }

    /**
     * Returns why these files cannot be written into manifests, tried in memory, where nothing else can fail; null:
     * they can. This separates a fault of the files, which is permanent, from one of the table or its storage.
     */
    private static String undescribable(List<String> data, List<String> deletes, TableMetadata base)
            throws IOException {
        int place = 0;
        try {
            for (String each : data) {
                DataFile rows = (DataFile) file(each, base);
                describe(rows, ManifestFiles.write(
                    base.formatVersion(), base.spec(), new InMemoryOutputFile(), SNAPSHOT_ID));
                place++;
            }
            for (String each : deletes) {
                // Some are of earlier specs.
                DeleteFile gone = (DeleteFile) file(each, base);
                describe(gone, ManifestFiles.writeDeleteManifest(
                    base.formatVersion(), base.spec(gone.specId()), new InMemoryOutputFile(), SNAPSHOT_ID));
                place++;
            }
            return null;
        } catch (RuntimeException failure) {
            return unreadable(place, failure);
        }
    }

    private static <F extends ContentFile<F>> void describe(F file, ManifestWriter<F> manifest) throws IOException {
        try (manifest) {
            manifest.add(file);
        }
        manifest.toManifestFile();
    }

    private static String unreadable(int place, RuntimeException failure) {
        return place + " is unreadable: " + failure;
    }

    private static ContentFile<?> file(String json, TableMetadata base) {
        try {
            return ContentFileParser.fromJson(JsonUtil.mapper().readTree(json), base.specsById());
        } catch (IOException failure) {
            throw new IllegalArgumentException(failure.toString());
        }
    }

    /** A table that stays as it is, so that the snapshot is made for the metadata that was checked. */
    private static final class Standing extends ForwardingOperations {
        private final TableMetadata base;

        Standing(TableOperations operations, TableMetadata base) {
            super(operations);
            this.base = base;
        }

        @Override
        public TableMetadata current() {
            return base;
        }

        @Override
        public TableMetadata refresh() {
            return base;
        }

        @Override
        public void commit(TableMetadata before, TableMetadata after) {
            throw new UnsupportedOperationException("The snapshot is committed elsewhere.");
        }
    }
}
