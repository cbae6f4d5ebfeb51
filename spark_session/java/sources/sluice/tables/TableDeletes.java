package sluice.tables;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
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

/**
 * The delete files of a table's branch.
 */
public final class TableDeletes {

    /** Whether the branch holds data files of another partition spec than the table has now. */
    public boolean hasOtherSpecs(Object session, String name, String branch) throws Exception {
        Table table = Spark3Util.loadIcebergTable((SparkSession) session, name);
        Snapshot head = table.snapshot(branch);
        if (head == null || table.specs().size() == 1) {
            return false;
        }
        Iterator manifests = head.dataManifests(table.io()).iterator();
        while (manifests.hasNext()) {
            ManifestFile manifest = (ManifestFile) manifests.next();
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
     * Iceberg's own removal keeps the newest delete file of an unpartitioned table. A delete file that applies to
     * nothing now never will: later data files are younger, or hold rows of files that are here.
     */
    public int removeDangling(Object session, String name, String branch) throws Exception {
        Table table = Spark3Util.loadIcebergTable((SparkSession) session, name);
        Snapshot head = table.snapshot(branch);
        if (head == null) {
            return 0;
        }
        List deletes = new ArrayList();
        Iterator manifests = head.deleteManifests(table.io()).iterator();
        while (manifests.hasNext()) {
            collect((ManifestFile) manifests.next(), table, deletes);
        }
        if (deletes.isEmpty()) {
            return 0;
        }
        Set applied = applied(table, head);
        RewriteFiles rewrite = table.newRewrite();
        int count = 0;
        for (int i = 0; i < deletes.size(); i++) {
            DeleteFile each = (DeleteFile) deletes.get(i);
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
    public String snapshots(Object session, String name) throws Exception {
        Table table = Spark3Util.loadIcebergTable((SparkSession) session, name);
        StringBuilder found = new StringBuilder(" ");
        Iterator snapshots = table.snapshots().iterator();
        while (snapshots.hasNext()) {
            found.append(((Snapshot) snapshots.next()).snapshotId()).append(' ');
        }
        return found.toString();
    }

    /**
     * Returns what snapshots that replaced files have added and removed in the branch, by their own summaries;
     * snapshots that existed before do not count.
     */
    public Map replacedSince(Object session, String name, String branch, String before) throws Exception {
        Table table = Spark3Util.loadIcebergTable((SparkSession) session, name);
        Map sums = new HashMap();
        Snapshot each = table.snapshot(branch);
        while (each != null && before.indexOf(" " + each.snapshotId() + " ") < 0) {
            if (DataOperations.REPLACE.equals(each.operation())) {
                add(sums, each.summary(), SnapshotSummary.DELETED_FILES_PROP);
                add(sums, each.summary(), SnapshotSummary.ADDED_FILES_PROP);
                add(sums, each.summary(), SnapshotSummary.REMOVED_FILE_SIZE_PROP);
                add(sums, each.summary(), SnapshotSummary.REMOVED_DELETE_FILES_PROP);
            }
            each = each.parentId() == null ? null : table.snapshot(each.parentId().longValue());
        }
        return sums;
    }

    private static void add(Map sums, Map summary, String name) {
        String count = (String) summary.get(name);
        Long sum = (Long) sums.get(name);
        long before = sum == null ? 0L : sum.longValue();
        sums.put(name, Long.valueOf(before + (count == null ? 0L : Long.parseLong(count))));
    }

    private static void collect(ManifestFile manifest, Table table, List deletes) throws Exception {
        ManifestReader reader = ManifestFiles.readDeleteManifest(manifest, table.io(), table.specs());
        try {
            Iterator each = reader.iterator();
            while (each.hasNext()) {
                deletes.add(((DeleteFile) each.next()).copy());
            }
        } finally {
            reader.close();
        }
    }

    private static Set applied(Table table, Snapshot head) throws Exception {
        Set found = new HashSet();
        CloseableIterable tasks = table.newScan().useSnapshot(head.snapshotId()).planFiles();
        try {
            Iterator each = tasks.iterator();
            while (each.hasNext()) {
                List deletes = ((FileScanTask) each.next()).deletes();
                for (int i = 0; i < deletes.size(); i++) {
                    found.add(((DeleteFile) deletes.get(i)).location());
                }
            }
        } finally {
            tasks.close();
        }
        return found;
    }
}
