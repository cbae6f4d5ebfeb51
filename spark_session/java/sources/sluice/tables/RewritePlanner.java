package sluice.tables;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.Table;
import org.apache.iceberg.actions.BinPackRewriteFilePlanner;
import org.apache.iceberg.actions.ImmutableRewriteDataFiles;
import org.apache.iceberg.actions.RewriteFileGroup;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.util.StructLikeMap;

/** Applies Iceberg's choice of files worth rewriting to the files of each write schema separately. */
public final class RewritePlanner extends BinPackRewriteFilePlanner {
    private final long snapshotId;
    private final boolean isAll;
    private int count = 0;

    public RewritePlanner(Table table, long snapshotId, Map options) {
        super(table, Expressions.alwaysTrue(), Long.valueOf(snapshotId), false);
        this.snapshotId = snapshotId;
        this.isAll = "true".equals(options.get(REWRITE_ALL));
        init(options);
    }

    /** Returns pairs of a `WriteGroup` and a `RewriteFileGroup` of some of its files. */
    public List planned() throws Exception {
        StructLikeMap partitions = byPartition();
        List found = new ArrayList();
        Iterator each = partitions.entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry entry = (Map.Entry) each.next();
            List tasks = (List) entry.getValue();
            // Footers are read only where there may be something to do.
            if (planFileGroups(tasks).iterator().hasNext()) {
                plan((StructLike) entry.getKey(), tasks, found);
            }
        }
        return found;
    }

    private void plan(StructLike partition, List tasks, List found) throws Exception {
        Iterator groups = grouped(tasks).iterator();
        int index = 0;
        while (groups.hasNext()) {
            WriteGroup group = (WriteGroup) groups.next();
            Iterator parts = planFileGroups(group.tasks).iterator();
            while (parts.hasNext()) {
                List part = (List) parts.next();
                long size = inputSize(part);
                ImmutableRewriteDataFiles.FileGroupInfo info = ImmutableRewriteDataFiles.FileGroupInfo.builder()
                    .globalIndex(++count)
                    .partitionIndex(++index)
                    .partition(partition)
                    .build();
                long split = inputSplitSize(size);
                found.add(new Object[] {
                    group,
                    new RewriteFileGroup(
                        info, part, outputSpecId(), writeMaxFileSize(), split, expectedOutputFiles(size)),
                });
            }
        }
    }

    private Collection grouped(List tasks) throws Exception {
        Map groups = new LinkedHashMap();
        List chosen = new ArrayList();
        Iterator worthIt = (isAll ? tasks : filterFiles(tasks)).iterator();
        while (worthIt.hasNext()) {
            chosen.add(worthIt.next());
        }
        List columns = FileColumns.ofAll(chosen, table());
        for (int i = 0; i < chosen.size(); i++) {
            FileScanTask task = (FileScanTask) chosen.get(i);
            Integer orderId = ((DataFile) task.file()).sortOrderId();
            WriteGroup group = new WriteGroup(table(), (List) columns.get(i), orderId, outputSpecId());
            String key = group.order().orderId() + " " + group.written();
            if (!groups.containsKey(key)) {
                groups.put(key, group);
            }
            ((WriteGroup) groups.get(key)).tasks.add(task);
        }
        return groups.values();
    }

    /** Files of other specs hold rows of many partitions of this one: they form one group. */
    private StructLikeMap byPartition() throws Exception {
        StructLikeMap found = StructLikeMap.create(table().spec().partitionType());
        StructLike none = GenericRecord.create(table().spec().partitionType());
        CloseableIterable tasks = table().newScan().useSnapshot(snapshotId).planFiles();
        try {
            Iterator each = tasks.iterator();
            while (each.hasNext()) {
                FileScanTask task = (FileScanTask) each.next();
                boolean isCurrent = ((DataFile) task.file()).specId() == table().spec().specId();
                StructLike partition = isCurrent ? ((DataFile) task.file()).partition() : none;
                if (!found.containsKey(partition)) {
                    found.put(partition, new ArrayList());
                }
                ((List) found.get(partition)).add(task);
            }
        } finally {
            tasks.close();
        }
        return found;
    }
}
