package sluice.progress;

import static sluice.collections.Lists.map;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import sluice.scans.PlannedScan;
import sluice.scans.PlannedScans;

/**
 * What each task of an Iceberg scan reads, in its order: splits of files, with their bytes.
 *
 * Spark's own counters of bytes miss what readers read ahead, and what Iceberg reads from object stores.
 */
public final class ScanSplits {
    private static final int SPLITS_READ = 200000;
    /** What a scan reads whose tasks cannot be told apart by their files. */
    private static final ScanSplits UNKNOWN = new ScanSplits(null, null);

    /** By task and split: bytes, and the file's number. */
    private final long[][] bytes;
    private final int[][] files;

    private ScanSplits(long[][] bytes, int[][] files) {
        this.bytes = bytes;
        this.files = files;
    }

    /**
     * Returns those of the scans of a running query that Spark has cut into tasks, by the id of their metric of rows;
     * without those whose id is known.
     */
    public static Map of(QueryExecution execution, Set known) throws Exception {
        Map found = new HashMap();
        for (PlannedScan scan : PlannedScans.of(execution)) {
            SparkPlan node = scan.plan();
            SQLMetric rows = map(node.metrics()).get("numOutputRows");
            Long id = rows == null ? null : Long.valueOf(rows.id());
            if (id == null || known.contains(id)) {
                continue;
            }
            ScanSplits splits = node instanceof BatchScanExec ? ofScan((BatchScanExec) node) : UNKNOWN;
            if (splits != null) {
                found.put(id, splits);
            }
        }
        return found;
    }

    /** Returns the number of tasks; -1: it is not known. */
    public int tasks() {
        return bytes == null ? -1 : bytes.length;
    }

    /** Adds the first splits of a task to the files and returns their bytes; -1: all of its splits. */
    public long read(int task, int splits, BitSet filesRead) {
        int count = splits < 0 ? bytes[task].length : Math.min(splits, bytes[task].length);
        long sum = 0;
        for (int i = 0; i < count; i++) {
            sum += bytes[task][i];
            filesRead.set(files[task][i]);
        }
        return sum;
    }

    private static ScanSplits ofScan(BatchScanExec exec) throws Exception {
        Object partitions = partitionsOf(exec);
        if (partitions == null) {
            return null;
        }
        if (exec.keyGroupedPartitioning().isDefined()) {
            // Groups of partitions become other tasks.
            return UNKNOWN;
        }
        Map numbers = new HashMap();
        List bytes = new ArrayList();
        List files = new ArrayList();
        int left = SPLITS_READ;
        scala.collection.Iterator each = ((scala.collection.Iterable) partitions).iterator();
        while (each.hasNext()) {
            List splits = splitsOf(each.next());
            left -= splits == null ? 0 : splits.size();
            if (splits == null || left < 0) {
                return UNKNOWN;
            }
            long[] bytesOfTask = new long[splits.size()];
            int[] filesOfTask = new int[splits.size()];
            for (int i = 0; i < splits.size(); i++) {
                FileScanTask split = (FileScanTask) splits.get(i);
                String location = ((ContentFile) split.file()).location();
                Integer number = (Integer) numbers.get(location);
                if (number == null) {
                    number = Integer.valueOf(numbers.size());
                    numbers.put(location, number);
                }
                bytesOfTask[i] = split.length();
                filesOfTask[i] = number.intValue();
            }
            bytes.add(bytesOfTask);
            files.add(filesOfTask);
        }
        return new ScanSplits((long[][]) bytes.toArray(new long[0][]), (int[][]) files.toArray(new int[0][]));
    }

    /** Returns the partitions of the node if it has made them: asking for them here would plan files. */
    private static Object partitionsOf(BatchScanExec exec) throws Exception {
        Field field = BatchScanExec.class.getDeclaredField("filteredPartitions");
        field.setAccessible(true);
        return field.get(exec);
    }

    /** Returns the splits of one task; null if they are not splits of files. */
    private static List splitsOf(Object partition) throws Exception {
        List found = new ArrayList();
        if (partition instanceof InputPartition) {
            return add(partition, found) ? found : null;
        }
        scala.collection.Iterator each = ((scala.collection.IterableOnce) partition).iterator();
        while (each.hasNext()) {
            if (!add(each.next(), found)) {
                return null;
            }
        }
        return found;
    }

    private static boolean add(Object partition, List found) throws Exception {
        Object group = taskGroupOf(partition);
        if (!(group instanceof ScanTaskGroup)) {
            return false;
        }
        for (Iterator tasks = ((ScanTaskGroup) group).tasks().iterator(); tasks.hasNext();) {
            ScanTask task = (ScanTask) tasks.next();
            if (!task.isFileScanTask()) {
                return false;
            }
            found.add(task.asFileScanTask());
        }
        return true;
    }

    /** Iceberg's class of partitions is package-private, so it is reached by reflection. */
    private static Object taskGroupOf(Object partition) throws Exception {
        for (Class type = partition.getClass(); type != null; type = type.getSuperclass()) {
            Method[] methods = type.getDeclaredMethods();
            for (int i = 0; i < methods.length; i++) {
                if (methods[i].getName().equals("taskGroup") && methods[i].getParameterTypes().length == 0) {
                    methods[i].setAccessible(true);
                    return methods[i].invoke(partition, new Object[0]);
                }
            }
        }
        return null;
    }
}
