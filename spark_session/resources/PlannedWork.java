import java.lang.reflect.Method;
import org.apache.iceberg.ScanTask;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connector.read.SupportsReportStatistics;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.GenerateExec;
import org.apache.spark.sql.execution.RangeExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.joins.BroadcastNestedLoopJoinExec;
import org.apache.spark.sql.execution.joins.CartesianProductExec;

/**
 * How much a planned query will read, and whether it may make many more rows than it reads.
 *
 * Bytes are those of the tasks that Iceberg planned, of the files that Spark selected, and of the rows of `range`.
 *
 * Compiled at start by Janino, the compiler that Spark ships for its generated code; hence no lambdas.
 */
public final class PlannedWork {
    private static final double BYTES_OF_NUMBER = 8;
    private static final double MOST = 1e18;

    /** Returns the bytes and, after a blank, 1 if the rows in between are bounded by them, else 0. */
    public String of(Object dataset) throws Exception {
        double[] found = {0, 1};
        collect(((Dataset) dataset).queryExecution().executedPlan(), found);
        return ((long) Math.min(found[0], MOST)) + " " + ((long) found[1]);
    }

    private static void collect(SparkPlan node, double[] found) throws Exception {
        if (node instanceof AdaptiveSparkPlanExec) {
            collect(((AdaptiveSparkPlanExec) node).initialPlan(), found);
            return;
        }
        if (node instanceof BatchScanExec) {
            found[0] += bytesOf((BatchScanExec) node);
        } else if (node instanceof FileSourceScanExec) {
            found[0] += ((FileSourceScanExec) node).selectedPartitions().totalFileSize();
        } else if (node instanceof RangeExec) {
            found[0] += ((Number) ((RangeExec) node).range().numElements()).doubleValue() * BYTES_OF_NUMBER;
        } else if (makesRows(node)) {
            found[1] = 0;
        }
        collectAll(node.subqueries(), found);
        collectAll(node.children(), found);
    }

    private static void collectAll(scala.collection.Iterable plans, double[] found) throws Exception {
        scala.collection.Iterator each = plans.iterator();
        while (each.hasNext()) {
            collect((SparkPlan) each.next(), found);
        }
    }

    /** A join without keys, rows made of arrays, and a recursion. */
    private static boolean makesRows(SparkPlan node) {
        return node instanceof CartesianProductExec
            || node instanceof BroadcastNestedLoopJoinExec
            || node instanceof GenerateExec
            || node.nodeName().startsWith("UnionLoop");
    }

    private static double bytesOf(BatchScanExec scan) throws Exception {
        double bytes = 0;
        Method taskGroup = null;
        scala.collection.Iterator each = scan.inputPartitions().iterator();
        while (each.hasNext()) {
            Object partition = each.next();
            if (taskGroup == null) {
                taskGroup = taskGroupOf(partition.getClass());
            }
            if (taskGroup == null) {
                return estimateOf(scan);
            }
            bytes += ((ScanTask) taskGroup.invoke(partition, new Object[0])).sizeBytes();
        }
        return bytes;
    }

    /** Iceberg's partitions are package-private, so they are reached by reflection; null for other sources. */
    private static Method taskGroupOf(Class type) {
        for (Class each = type; each != null; each = each.getSuperclass()) {
            Method[] methods = each.getDeclaredMethods();
            for (int i = 0; i < methods.length; i++) {
                boolean isIt = methods[i].getName().equals("taskGroup")
                    && methods[i].getParameterTypes().length == 0;
                if (isIt) {
                    methods[i].setAccessible(true);
                    return methods[i];
                }
            }
        }
        return null;
    }

    private static double estimateOf(BatchScanExec scan) {
        if (!(scan.scan() instanceof SupportsReportStatistics)) {
            return MOST;
        }
        java.util.OptionalLong bytes = ((SupportsReportStatistics) scan.scan()).estimateStatistics().sizeInBytes();
        return bytes.isPresent() ? bytes.getAsLong() : MOST;
    }
}
