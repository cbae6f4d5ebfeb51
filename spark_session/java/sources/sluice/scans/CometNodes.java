package sluice.scans;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import scala.collection.immutable.Seq;
import sluice.collections.Lists;
import sluice.rowgroups.ScanRowGroups;

/**
 * Knows the nodes that Comet puts into plans, if it is there. Its classes are reached by reflection: most gateways are
 * without them.
 *
 * <p>A node of Comet stands for a node of Spark, and keeps it. A native scan of an Iceberg table reads the tasks of that
 * node. So what Spark or the gateway has left out of these tasks is left out, too.
 */
public final class CometNodes {

    private static final String PACKAGE = "org.apache.spark.sql.comet.";
    /** Made when the scan begins. Its accessors would make it: they run the subqueries of a plan that is only shown. */
    private static final String TASKS = "org$apache$spark$sql$comet$CometIcebergNativeScanExec$$serializedPartitionData";
    private static final String ROWS = "numOutputRows";
    private static final String NATIVE_ROWS = "output_rows";

    private CometNodes() {}

    /** A file, or a part of it, that a task reads. Places are numbers of partitions, the same for the same partition. */
    public record Split(String file, long fileBytes, long start, long bytes, List<Integer> partition) {}

    /** Whether it is a node of Comet. */
    public static boolean isOfComet(SparkPlan node) {
        return node.getClass().getName().startsWith(PACKAGE);
    }

    /** Returns the node of Spark that a node of Comet stands for; all other nodes as they are. */
    public static SparkPlan original(SparkPlan node) {
        if (!isOfComet(node)) {
            return node;
        }
        try {
            for (String name : List.of("originalPlan", "wrapped")) {
                boolean hasOne = PackagePrivate.method(node.getClass(), name) != null;
                if (hasOne && PackagePrivate.call(node, name) instanceof SparkPlan found) {
                    return found == node ? node : original(found);
                }
            }
        } catch (ReflectiveOperationException failure) {
            // Another version of Comet: its node is one that is not known.
            return node;
        }
        return node;
    }

    /** Returns the metric of the rows that a scan has read; null if it has none. */
    public static SQLMetric rowsOf(SparkPlan scan) {
        SQLMetric known = Lists.map(scan.metrics()).get(ROWS);
        return known == null && isOfComet(scan) ? Lists.map(scan.metrics()).get(NATIVE_ROWS) : known;
    }

    /** Returns the filters that may hold keys that Spark finds while the query runs. */
    @SuppressWarnings("unchecked")
    static Seq<Expression> runtimeFiltersOf(BatchScanExec exec, SparkPlan node) throws ReflectiveOperationException {
        boolean hasOwn = isOfComet(node) && PackagePrivate.method(node.getClass(), "runtimeFilters") != null;
        return hasOwn ? (Seq<Expression>) PackagePrivate.call(node, "runtimeFilters") : exec.runtimeFilters();
    }

    /**
     * Returns a native scan that reads the tasks of `exec` instead of those of its node.
     *
     * @throws ReflectiveOperationException its class is not the one that is known
     */
    static SparkPlan withOriginal(SparkPlan node, BatchScanExec exec) throws ReflectiveOperationException {
        Object[] parts = new Object[node.productArity()];
        boolean isPlaced = false;
        for (int place = 0; place < parts.length; place++) {
            parts[place] = node.productElement(place);
            if (parts[place] instanceof BatchScanExec) {
                parts[place] = exec;
                isPlaced = true;
            } else if (node.productElementName(place).equals("runtimeFilters")) {
                // Otherwise the scan would copy the node, with the filters that it has.
                parts[place] = exec.runtimeFilters();
            }
        }
        for (var method : node.getClass().getMethods()) {
            if (isPlaced && method.getName().equals("copy") && method.getParameterCount() == parts.length) {
                SparkPlan copy = (SparkPlan) method.invoke(node, parts);
                copy.copyTagsFrom(node);
                return copy;
            }
        }
        throw new NoSuchMethodException("copy");
    }

    /**
     * Returns what each task of a native scan of an Iceberg table reads; null if it has made none yet, or if it is
     * another node.
     */
    public static List<List<Split>> tasksOf(SparkPlan node) throws ReflectiveOperationException {
        if (!isOfComet(node) || !(PackagePrivate.field(node, TASKS) instanceof scala.Tuple2<?, ?> made)) {
            return null;
        }
        List<List<Split>> tasks = new ArrayList<>();
        for (byte[] task : (byte[][]) made._2()) {
            tasks.add(splitsOf(node.getClass().getClassLoader(), task));
        }
        return tasks;
    }

    private static List<Split> splitsOf(ClassLoader loader, byte[] task) throws ReflectiveOperationException {
        Class<?> type = Class.forName("org.apache.comet.serde.OperatorOuterClass$IcebergScan", true, loader);
        Object message = type.getMethod("parseFrom", byte[].class).invoke(null, task);
        List<Split> splits = new ArrayList<>();
        for (Object split : (List<?>) call(message, "getFileScanTasksList")) {
            splits.add(new Split(
                (String) call(split, "getDataFilePath"),
                (Long) call(split, "getFileSizeInBytes"),
                (Long) call(split, "getStart"),
                (Long) call(split, "getLength"),
                List.of(
                    numberOf(split, "PartitionSpecIdx"),
                    numberOf(split, "PartitionDataIdx"))));
        }
        return splits;
    }

    private static int numberOf(Object split, String name) throws ReflectiveOperationException {
        return (Boolean) call(split, "has" + name) ? (Integer) call(split, "get" + name) : -1;
    }

    private static Object call(Object target, String name) throws ReflectiveOperationException {
        return target.getClass().getMethod(name).invoke(target);
    }

    /** Returns partitions, data files and bytes of the tasks. How many row groups Comet selects is not known. */
    static long[] selectedOf(List<List<Split>> tasks) {
        Set<List<Integer>> partitions = new HashSet<>();
        Set<String> files = new HashSet<>();
        long bytes = 0;
        for (List<Split> task : tasks) {
            for (Split split : task) {
                if (files.add(split.file())) {
                    partitions.add(split.partition());
                    bytes += split.fileBytes();
                }
            }
        }
        return new long[] {partitions.size(), files.size(), bytes, ScanRowGroups.UNKNOWN};
    }
}
