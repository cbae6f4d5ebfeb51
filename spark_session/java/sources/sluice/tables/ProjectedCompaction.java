package sluice.tables;

import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
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
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/**
 * Rewrites data files so that no new one has a column that those before it did not have.
 *
 * <p>It chooses, sizes and commits files as Iceberg's own rewriting does. The files of each write schema, and of each
 * sort order, are rewritten separately.
 */
public final class ProjectedCompaction {

    /** Returns the counts of the work done, by the names in Iceberg's procedure, and the number of write schemas. */
    public Map<String, Long> rewrite(SparkSession session, String name, String branch, Map<String, String> options)
            throws Exception {
        Table loaded = Spark3Util.loadIcebergTable(session, name);
        Table table = new BaseTable(new OneSpec(((HasTableOperations) loaded).operations(), branch), name);
        Snapshot head = table.snapshot(branch);
        if (head == null) {
            return counts(Set.of(), Set.of());
        }
        List<RewritePlanner.Rewrite> planned = new RewritePlanner(table, head.snapshotId(), options).planned();
        var manager = new RewriteDataFilesCommitManager(table, head.snapshotId(), true, new HashMap<>(), branch);
        Set<RewriteFileGroup> done = new HashSet<>();
        Set<WriteGroup> groups = new HashSet<>();
        try {
            for (RewritePlanner.Rewrite each : planned) {
                each.files().setOutputFiles(rewritten(session, table, each.group(), each.files()));
                done.add(each.files());
                groups.add(each.group());
            }
        } catch (Exception failure) {
            done.forEach(manager::abortFileGroup);
            throw failure;
        }
        if (!done.isEmpty()) {
            manager.commitOrClean(done);
        }
        return counts(done, groups);
    }

    private static Set<DataFile> rewritten(
            SparkSession spark, Table table, WriteGroup group, RewriteFileGroup files) {
        String readId = UUID.randomUUID().toString();
        String writeId = UUID.randomUUID().toString();
        List<Types.NestedField> read = group.read(files.fileScanTasks());
        Table source = new ProjectedTable(table, read, SortOrder.unsorted());
        Table target = new ProjectedTable(table, group.written(), group.order());
        try {
            SparkTableCache.get().add(readId, source);
            SparkTableCache.get().add(writeId, target);
            ScanTaskSetManager.get().stageTasks(source, readId, files.fileScanTasks());
            Dataset<Row> rows = chosen(rowsOf(spark, readId, files), read, group.written());
            writer(rows, group, files).save(writeId);
            Set<DataFile> made = FileRewriteCoordinator.get().fetchNewFiles(target, writeId);
            return SkippedColumns.counted(made, table, group.written());
        } finally {
            SparkTableCache.get().remove(readId);
            SparkTableCache.get().remove(writeId);
            ScanTaskSetManager.get().removeTasks(source, readId);
            FileRewriteCoordinator.get().clearRewrite(target, writeId);
        }
    }

    private static Dataset<Row> rowsOf(SparkSession spark, String readId, RewriteFileGroup files) {
        return spark.read()
            .format("iceberg")
            .option("split-size", files.inputSplitSize())
            .option("file-open-cost", "0")
            .load(readId);
    }

    private static DataFrameWriter<Row> writer(
            Dataset<Row> rows, WriteGroup group, RewriteFileGroup files) {
        DataFrameWriter<Row> writer = rows.write()
            .format("iceberg")
            .option("target-file-size-bytes", files.maxOutputFileSize())
            .option("distribution-mode", isShuffled(group, files) ? "range" : "none")
            .option("output-spec-id", files.outputSpecId())
            .mode("append");
        return group.order().isSorted()
            ? writer.option("output-sort-order-id", group.order().orderId())
            : writer;
    }

    /** Returns the rows without the columns that were read for deletes alone. */
    private static Dataset<Row> chosen(
            Dataset<Row> rows, List<Types.NestedField> read, List<Types.NestedField> written) {
        if (read.size() == written.size()) {
            return rows;
        }
        Set<String> left = read.subList(written.size(), read.size()).stream()
            .map(Types.NestedField::name)
            .collect(Collectors.toSet());
        return rows.select(Arrays.stream(rows.columns())
            .filter(name -> !left.contains(name))
            .map(name -> rows.col("`" + name.replace("`", "``") + "`"))
            .toArray(Column[]::new));
    }

    /** Whether rows must be shuffled: those of other partitions, or of one order in several files. */
    private static boolean isShuffled(WriteGroup group, RewriteFileGroup files) {
        FileScanTask first = files.fileScanTasks().get(0);
        boolean isOfOutputSpec = first.file().specId() == files.outputSpecId();
        return !isOfOutputSpec || (!group.order().isUnsorted() && files.expectedOutputFiles() > 1);
    }

    private static Map<String, Long> counts(Set<RewriteFileGroup> done, Set<WriteGroup> groups) {
        long rewritten = 0;
        long added = 0;
        long bytes = 0;
        for (RewriteFileGroup files : done) {
            rewritten += files.rewrittenFiles().size();
            added += files.addedFiles().size();
            bytes += files.inputFilesSizeInBytes();
        }
        Map<String, Long> counts = new HashMap<>();
        counts.put("rewritten_data_files_count", rewritten);
        counts.put("added_data_files_count", added);
        counts.put("rewritten_bytes_count", bytes);
        counts.put("write_schemas_count", (long) groups.size());
        return counts;
    }
}
