package sluice.tables;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.Table;
import org.apache.iceberg.actions.BinPackRewriteFilePlanner;
import org.apache.iceberg.actions.ImmutableRewriteDataFiles;
import org.apache.iceberg.actions.RewriteFileGroup;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.StructLikeMap;

/** Applies Iceberg's choice of files worth rewriting to the files of each write schema separately. */
public final class RewritePlanner extends BinPackRewriteFilePlanner {

    private final long snapshotId;
    private final boolean isAll;
    private int count = 0;

    /** Some files of a write schema, to be rewritten together. */
    public record Rewrite(WriteGroup group, RewriteFileGroup files) {}

    public RewritePlanner(Table table, long snapshotId, Map<String, String> options) {
        super(table, Expressions.alwaysTrue(), snapshotId, false);
        this.snapshotId = snapshotId;
        this.isAll = "true".equals(options.get(REWRITE_ALL));
        init(options);
    }

    /** Returns what is worth rewriting in the snapshot. */
    public List<Rewrite> planned() throws Exception {
        List<Rewrite> found = new ArrayList<>();
        for (Map.Entry<StructLike, List<FileScanTask>> entry : byPartition().entrySet()) {
            List<FileScanTask> tasks = entry.getValue();
            // Footers are read only where there may be something to do.
            if (planFileGroups(tasks).iterator().hasNext()) {
                plan(entry.getKey(), tasks, found);
            }
        }
        return found;
    }

    private void plan(StructLike partition, List<FileScanTask> tasks, List<Rewrite> found) throws Exception {
        int index = 0;
        for (WriteGroup group : grouped(tasks)) {
            for (List<FileScanTask> part : planFileGroups(group.tasks)) {
                var info = ImmutableRewriteDataFiles.FileGroupInfo.builder()
                    .globalIndex(++count)
                    .partitionIndex(++index)
                    .partition(partition)
                    .build();
                long size = inputSize(part);
                long split = inputSplitSize(size);
                found.add(new Rewrite(group, new RewriteFileGroup(
                    info, part, outputSpecId(), writeMaxFileSize(), split, expectedOutputFiles(size))));
            }
        }
    }

    private Collection<WriteGroup> grouped(List<FileScanTask> tasks) throws Exception {
        List<FileScanTask> chosen = new ArrayList<>();
        (isAll ? tasks : filterFiles(tasks)).forEach(chosen::add);
        List<List<Types.NestedField>> columns = FileColumns.ofAll(chosen, table());
        Map<String, WriteGroup> groups = new LinkedHashMap<>();
        for (int i = 0; i < chosen.size(); i++) {
            FileScanTask task = chosen.get(i);
            WriteGroup group =
                new WriteGroup(table(), columns.get(i), task.file().sortOrderId(), outputSpecId());
            String key = group.order().orderId() + " " + group.written();
            groups.computeIfAbsent(key, absent -> group).tasks.add(task);
        }
        return groups.values();
    }

    /** Files of other specs hold rows of many partitions of this one: they form one group. */
    private Map<StructLike, List<FileScanTask>> byPartition() throws Exception {
        StructLikeMap<List<FileScanTask>> found = StructLikeMap.create(table().spec().partitionType());
        StructLike none = GenericRecord.create(table().spec().partitionType());
        try (CloseableIterable<FileScanTask> tasks = table().newScan().useSnapshot(snapshotId).planFiles()) {
            for (FileScanTask task : tasks) {
                boolean isCurrent = task.file().specId() == table().spec().specId();
                StructLike partition = isCurrent ? task.file().partition() : none;
                if (!found.containsKey(partition)) {
                    found.put(partition, new ArrayList<>());
                }
                found.get(partition).add(task);
            }
        }
        return found;
    }
}
