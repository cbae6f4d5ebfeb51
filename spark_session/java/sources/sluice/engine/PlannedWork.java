package sluice.engine;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;

import java.lang.reflect.Method;
import org.apache.iceberg.ScanTask;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.GenerateExec;
import org.apache.spark.sql.execution.RangeExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec;
import org.apache.spark.sql.execution.joins.CartesianProductExec;
import sluice.scans.CometNodes;

/**
 * How much a planned query will read, and whether it may make many more rows than it reads.
 *
 * <p>Bytes are those of the tasks that Iceberg planned, of the files that Spark selected, and of the rows of `range`.
 */
public final class PlannedWork {

    private static final double BYTES_OF_NUMBER = 8;
    private static final double MOST = 1e18;

    /** Returns the bytes and, after a blank, 1 if the rows in between are bounded by them, else 0. */
    public String of(Dataset<?> dataset) throws ReflectiveOperationException {
        Sum sum = new Sum();
        sum.add(dataset.queryExecution().executedPlan());
        return (long) Math.min(sum.bytes, MOST) + " " + (sum.isBounded ? 1 : 0);
    }

    private static final class Sum {
        private double bytes = 0;
        private boolean isBounded = true;

        void add(SparkPlan node) throws ReflectiveOperationException {
            if (node instanceof AdaptiveSparkPlanExec adaptive) {
                add(adaptive.initialPlan());
                return;
            }
            SparkPlan original = CometNodes.original(node);
            bytes += bytesOf(original);
            isBounded &= !makesRows(original);
            for (SparkPlan subquery : list(node.subqueries())) {
                add(subquery);
            }
            for (SparkPlan child : list(node.children())) {
                add(child);
            }
        }
    }

    private static double bytesOf(SparkPlan node) throws ReflectiveOperationException {
        if (node instanceof BatchScanExec scan) {
            return bytesOfScan(scan);
        }
        if (node instanceof FileSourceScanExec scan) {
            return scan.selectedPartitions().totalFileSize();
        }
        return node instanceof RangeExec range
            ? range.range().numElements().doubleValue() * BYTES_OF_NUMBER
            : 0;
    }

    /** A join without keys, rows made of arrays, and a recursion. */
    private static boolean makesRows(SparkPlan node) {
        return node instanceof CartesianProductExec
            || node instanceof BroadcastNestedLoopJoinExec
            || node instanceof GenerateExec
            || node.nodeName().startsWith("UnionLoop");
    }

    private static double bytesOfScan(BatchScanExec scan) throws ReflectiveOperationException {
        double bytes = 0;
        Method taskGroup = null;
        for (InputPartition partition : iterable(scan.inputPartitions())) {
            taskGroup = taskGroup == null ? taskGroupOf(partition.getClass()) : taskGroup;
            if (taskGroup == null) {
                return estimateOf(scan);
            }
            bytes += ((ScanTask) taskGroup.invoke(partition)).sizeBytes();
        }
        return bytes;
    }

    /** Iceberg's partitions are package-private, so they are reached by reflection; null for other sources. */
    private static Method taskGroupOf(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getSuperclass()) {
            for (Method method : each.getDeclaredMethods()) {
                if (method.getName().equals("taskGroup") && method.getParameterCount() == 0) {
                    method.setAccessible(true);
                    return method;
                }
            }
        }
        return null;
    }

    private static double estimateOf(BatchScanExec scan) {
        return scan.scan() instanceof SupportsReportStatistics reporting
            ? reporting.estimateStatistics().sizeInBytes().orElse((long) MOST)
            : MOST;
    }
}
