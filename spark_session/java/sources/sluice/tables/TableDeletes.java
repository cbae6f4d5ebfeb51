package sluice.tables;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.DataOperations;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestReader;
import org.apache.iceberg.RewriteFiles;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotSummary;
import org.apache.iceberg.Table;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.spark.sql.SparkSession;

/** The delete files of a table's branch. */
public final class TableDeletes {

    private static final List<String> SUMMED = List.of(
        SnapshotSummary.DELETED_FILES_PROP,
        SnapshotSummary.ADDED_FILES_PROP,
        SnapshotSummary.REMOVED_FILE_SIZE_PROP,
        SnapshotSummary.REMOVED_DELETE_FILES_PROP);

    /** Whether the branch holds data files of another partition spec than the table has now. */
    public boolean hasOtherSpecs(SparkSession session, String name, String branch) throws Exception {
        Table table = Spark3Util.loadIcebergTable(session, name);
        Snapshot head = table.snapshot(branch);
        if (head == null || table.specs().size() == 1) {
            return false;
        }
        for (ManifestFile manifest : head.dataManifests(table.io())) {
            boolean hasFiles = manifest.hasAddedFiles() || manifest.hasExistingFiles();
            if (hasFiles && manifest.partitionSpecId() != table.spec().specId()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Removes every delete file of the branch that applies to none of its data files; returns how many there were.
     *
     * <p>Iceberg's own removal keeps the newest delete file of an unpartitioned table. A delete file that applies to
     * nothing now never will: later data files are younger, or hold rows of files that are here.
     */
    public int removeDangling(SparkSession session, String name, String branch) throws Exception {
        Table table = Spark3Util.loadIcebergTable(session, name);
        Snapshot head = table.snapshot(branch);
        if (head == null) {
            return 0;
        }
        List<DeleteFile> deletes = deletesOf(table, head);
        if (deletes.isEmpty()) {
            return 0;
        }
        Set<String> applied = applied(table, head);
        RewriteFiles rewrite = table.newRewrite();
        int count = 0;
        for (DeleteFile each : deletes) {
            if (!applied.contains(each.location())) {
                rewrite.deleteFile(each);
                count++;
            }
        }
        if (count > 0) {
            rewrite.validateFromSnapshot(head.snapshotId());
            rewrite.toBranch(branch);
            rewrite.commit();
        }
        return count;
    }

    /** Returns the ids of all snapshots that the table has now, for `replacedSince`. */
    public String snapshots(SparkSession session, String name) throws Exception {
        StringBuilder found = new StringBuilder(" ");
        for (Snapshot snapshot : Spark3Util.loadIcebergTable(session, name).snapshots()) {
            found.append(snapshot.snapshotId()).append(' ');
        }
        return found.toString();
    }

    /**
     * Returns what snapshots that replaced files have added and removed in the branch, by their own summaries;
     * snapshots that existed before do not count.
     */
    public Map<String, Long> replacedSince(SparkSession session, String name, String branch, String before)
            throws Exception {
        Table table = Spark3Util.loadIcebergTable(session, name);
        Map<String, Long> sums = new HashMap<>();
        Snapshot each = table.snapshot(branch);
        while (each != null && !before.contains(" " + each.snapshotId() + " ")) {
            if (DataOperations.REPLACE.equals(each.operation())) {
                for (String count : SUMMED) {
                    String found = each.summary().get(count);
                    sums.merge(count, found == null ? 0 : Long.parseLong(found), Long::sum);
                }
            }
            each = each.parentId() == null ? null : table.snapshot(each.parentId());
        }
        return sums;
    }

    private static List<DeleteFile> deletesOf(Table table, Snapshot head) throws IOException {
        List<DeleteFile> found = new ArrayList<>();
        for (ManifestFile manifest : head.deleteManifests(table.io())) {
            try (ManifestReader<DeleteFile> reader =
                    ManifestFiles.readDeleteManifest(manifest, table.io(), table.specs())) {
                for (DeleteFile each : reader) {
                    found.add(each.copy());
                }
            }
        }
        return found;
    }

    /** Returns the locations of the delete files that apply to any data file. */
    private static Set<String> applied(Table table, Snapshot head) throws IOException {
        Set<String> found = new HashSet<>();
        try (CloseableIterable<FileScanTask> tasks =
                table.newScan().useSnapshot(head.snapshotId()).planFiles()) {
            for (FileScanTask task : tasks) {
                task.deletes().forEach(delete -> found.add(delete.location()));
            }
        }
        return found;
    }
}
