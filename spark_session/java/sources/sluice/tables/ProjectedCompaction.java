package sluice.tables;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.Table;
import org.apache.iceberg.actions.RewriteDataFilesCommitManager;
import org.apache.iceberg.actions.RewriteFileGroup;
import org.apache.iceberg.spark.FileRewriteCoordinator;
import org.apache.iceberg.spark.ScanTaskSetManager;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.iceberg.spark.SparkTableCache;
import org.apache.iceberg.types.Types;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.SparkSession;

/**
 * Rewrites data files so that no new one has a column that those before it did not have.
 *
 * It chooses, sizes and commits files as Iceberg's own rewriting does. The files of each write schema, and of each
 * sort order, are rewritten separately.
 */
public final class ProjectedCompaction {

    /** Returns the counts of the work done, by the names in Iceberg's procedure, and the number of write schemas. */
    public Map rewrite(Object session, String name, String branch, Map options) throws Exception {
        SparkSession spark = (SparkSession) session;
        Table loaded = Spark3Util.loadIcebergTable(spark, name);
        Table table = new BaseTable(new OneSpec(((HasTableOperations) loaded).operations(), branch), name);
        Snapshot head = table.snapshot(branch);
        if (head == null) {
            return counts(new HashSet(), new HashSet());
        }
        List planned = new RewritePlanner(table, head.snapshotId(), options).planned();
        RewriteDataFilesCommitManager manager = new RewriteDataFilesCommitManager(
            table, head.snapshotId(), true, new HashMap(), branch);
        Set done = new HashSet();
        Set groups = new HashSet();
        try {
            for (int i = 0; i < planned.size(); i++) {
                Object[] pair = (Object[]) planned.get(i);
                RewriteFileGroup files = (RewriteFileGroup) pair[1];
                files.setOutputFiles(rewritten(spark, table, (WriteGroup) pair[0], files));
                done.add(files);
                groups.add(pair[0]);
            }
        } catch (Exception failure) {
            Iterator each = done.iterator();
            while (each.hasNext()) {
                manager.abortFileGroup((RewriteFileGroup) each.next());
            }
            throw failure;
        }
        if (!done.isEmpty()) {
            manager.commitOrClean(done);
        }
        return counts(done, groups);
    }

    private static Set rewritten(SparkSession spark, Table table, WriteGroup group, RewriteFileGroup files) {
        String readId = UUID.randomUUID().toString();
        String writeId = UUID.randomUUID().toString();
        List read = group.read(files.fileScanTasks());
        Table source = new ProjectedTable(table, read, SortOrder.unsorted());
        Table target = new ProjectedTable(table, group.written(), group.order());
        try {
            SparkTableCache.get().add(readId, source);
            SparkTableCache.get().add(writeId, target);
            ScanTaskSetManager.get().stageTasks(source, readId, files.fileScanTasks());
            Dataset rows = spark.read()
                .format("iceberg")
                .option("split-size", files.inputSplitSize())
                .option("file-open-cost", "0")
                .load(readId);
            DataFrameWriter writer = chosen(rows, read, group.written())
                .write()
                .format("iceberg")
                .option("target-file-size-bytes", files.maxOutputFileSize())
                .option("distribution-mode", isShuffled(table, group, files) ? "range" : "none")
                .option("output-spec-id", (long) files.outputSpecId())
                .mode("append");
            if (group.order().isSorted()) {
                writer = writer.option("output-sort-order-id", (long) group.order().orderId());
            }
            writer.save(writeId);
            Set made = new HashSet(FileRewriteCoordinator.get().fetchNewFiles(target, writeId));
            return SkippedColumns.counted(made, table, group.written());
        } finally {
            SparkTableCache.get().remove(readId);
            SparkTableCache.get().remove(writeId);
            ScanTaskSetManager.get().removeTasks(source, readId);
            FileRewriteCoordinator.get().clearRewrite(target, writeId);
        }
    }

    /** Returns the rows without the columns that were read for deletes alone. */
    private static Dataset chosen(Dataset rows, List read, List written) {
        if (read.size() == written.size()) {
            return rows;
        }
        Set names = new HashSet();
        for (int i = written.size(); i < read.size(); i++) {
            names.add(((Types.NestedField) read.get(i)).name());
        }
        String[] all = rows.columns();
        List columns = new ArrayList();
        for (int i = 0; i < all.length; i++) {
            if (!names.contains(all[i])) {
                columns.add(rows.col("`" + all[i].replace("`", "``") + "`"));
            }
        }
        return rows.select((Column[]) columns.toArray(new Column[0]));
    }

    /** Whether rows must be shuffled: those of other partitions, or of one order in several files. */
    private static boolean isShuffled(Table table, WriteGroup group, RewriteFileGroup files) {
        FileScanTask first = (FileScanTask) files.fileScanTasks().get(0);
        boolean isOfOutputSpec = ((DataFile) first.file()).specId() == files.outputSpecId();
        return !isOfOutputSpec || (!group.order().isUnsorted() && files.expectedOutputFiles() > 1);
    }

    private static Map counts(Set done, Set groups) {
        long rewritten = 0L;
        long added = 0L;
        long bytes = 0L;
        Iterator each = done.iterator();
        while (each.hasNext()) {
            RewriteFileGroup files = (RewriteFileGroup) each.next();
            rewritten += files.rewrittenFiles().size();
            added += files.addedFiles().size();
            bytes += files.inputFilesSizeInBytes();
        }
        Map counts = new HashMap();
        counts.put("rewritten_data_files_count", Long.valueOf(rewritten));
        counts.put("added_data_files_count", Long.valueOf(added));
        counts.put("rewritten_bytes_count", Long.valueOf(bytes));
        counts.put("write_schemas_count", Long.valueOf(groups.size()));
        return counts;
    }
}
