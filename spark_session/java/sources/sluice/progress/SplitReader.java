package sluice.progress;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import scala.collection.IterableOnce;
import sluice.scans.CometNodes;
import sluice.scans.PackagePrivate;
import sluice.scans.PlannedScan;
import sluice.scans.PlannedScans;

/**
 * Reads the splits of each task of an Iceberg scan from the plan of a running query.
 *
 * <p>Spark's own counters of bytes miss what readers read ahead, and what Iceberg reads from object stores.
 */
final class SplitReader {

    private static final int SPLITS_READ = 200_000;
    private static final long PARQUET_BEGINS = 4;

    private final Map<String, Integer> numberOfFile = new HashMap<>();
    private int left = SPLITS_READ;

    private SplitReader() {}

    /**
     * Returns those of the scans of a running query that Spark has cut into tasks, by the id of their metric of rows;
     * without those whose id is known.
     */
    static Map<Long, ScanSplits> of(QueryExecution execution, Set<Long> known) throws ReflectiveOperationException {
        Map<Long, ScanSplits> found = new HashMap<>();
        for (PlannedScan scan : PlannedScans.of(execution)) {
            SQLMetric rows = CometNodes.rowsOf(scan.node());
            if (rows == null || known.contains(rows.id())) {
                continue;
            }
            ScanSplits splits = scan.plan() instanceof BatchScanExec exec ? of(exec, scan.node()) : ScanSplits.UNKNOWN;
            if (splits != null) {
                found.put(rows.id(), splits);
            }
        }
        return found;
    }

    /** Returns null if the node has not made its partitions yet: asking for them here would plan files. */
    private static ScanSplits of(BatchScanExec exec, SparkPlan node) throws ReflectiveOperationException {
        if (CometNodes.isOfComet(node)) {
            return ofComet(node);
        }
        Object partitions = PackagePrivate.field(exec, "filteredPartitions");
        if (partitions == null) {
            return null;
        }
        if (exec.keyGroupedPartitioning().isDefined()) {
            // Groups of partitions become other tasks.
            return ScanSplits.UNKNOWN;
        }
        SplitReader reader = new SplitReader();
        List<ScanSplits.TaskSplits> tasks = new ArrayList<>();
        for (Object partition : iterable((scala.collection.Iterable<?>) partitions)) {
            List<FileScanTask> splits = splitsOf(partition);
            reader.left -= splits == null ? 0 : splits.size();
            if (splits == null || reader.left < 0) {
                return ScanSplits.UNKNOWN;
            }
            tasks.add(reader.numbered(splits));
        }
        return new ScanSplits(tasks);
    }

    private static ScanSplits ofComet(SparkPlan node) throws ReflectiveOperationException {
        List<List<CometNodes.Split>> made = CometNodes.tasksOf(node);
        if (made == null) {
            return null;
        }
        SplitReader reader = new SplitReader();
        List<ScanSplits.TaskSplits> tasks = new ArrayList<>();
        for (List<CometNodes.Split> task : made) {
            reader.left -= task.size();
            if (reader.left < 0) {
                return ScanSplits.UNKNOWN;
            }
            tasks.add(new ScanSplits.TaskSplits(
                task.stream().mapToLong(SplitReader::bytesOf).toArray(),
                task.stream().mapToInt(split -> reader.numberOf(split.file())).toArray()));
        }
        return new ScanSplits(tasks);
    }

    private static long bytesOf(CometNodes.Split split) {
        return split.bytes() + (split.start() == PARQUET_BEGINS ? split.start() : 0);
    }

    private int numberOf(String file) {
        return numberOfFile.computeIfAbsent(file, any -> numberOfFile.size());
    }

    private ScanSplits.TaskSplits numbered(List<FileScanTask> splits) {
        long[] bytes = new long[splits.size()];
        int[] files = new int[splits.size()];
        for (int i = 0; i < bytes.length; i++) {
            FileScanTask split = splits.get(i);
            bytes[i] = split.length() + bytesBefore(split);
            files[i] = numberOf(split.file().location());
        }
        return new ScanSplits.TaskSplits(bytes, files);
    }

    /** Returns the bytes before the first split of a file, which belong to it: those of Parquet begin at 4. */
    private static long bytesBefore(FileScanTask split) {
        List<Long> offsets = split.file().splitOffsets();
        boolean isFirst = offsets != null && !offsets.isEmpty() && offsets.get(0) == split.start();
        return isFirst ? split.start() : 0;
    }

    /** Returns the splits of one task; null if they are not splits of files. */
    private static List<FileScanTask> splitsOf(Object task) throws ReflectiveOperationException {
        List<FileScanTask> found = new ArrayList<>();
        if (task instanceof InputPartition) {
            return add(task, found) ? found : null;
        }
        for (Object partition : list(((IterableOnce<?>) task).iterator().toSeq())) {
            if (!add(partition, found)) {
                return null;
            }
        }
        return found;
    }

    private static boolean add(Object partition, List<FileScanTask> found) throws ReflectiveOperationException {
        Method method = PackagePrivate.method(partition.getClass(), "taskGroup");
        if (method == null || !(method.invoke(partition) instanceof ScanTaskGroup<?> group)) {
            return false;
        }
        for (ScanTask split : group.tasks()) {
            if (!split.isFileScanTask()) {
                return false;
            }
            found.add(split.asFileScanTask());
        }
        return true;
    }
}
