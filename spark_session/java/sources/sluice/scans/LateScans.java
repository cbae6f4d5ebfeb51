package sluice.scans;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import sluice.collections.IdentityMap;

/**
 * Lets scans of running queries leave out files until their stages are made.
 *
 * <p>Adaptive execution makes a stage when all that it reads from other stages is there: often, the broadcast sides of
 * its joins. So it may be long after the query was planned.
 */
public final class LateScans {

    private static final String WHOLE = "org.apache.iceberg.spark.source.SparkBatchQueryScan";

    /** Adaptive execution plans a query again and again, with the same scans. */
    private final IdentityMap<Scan, LateScan> watched = new IdentityMap<>();

    /** Lets it act in the sessions that are opened from this one. */
    public void open(SparkSession root) {
        root.extensions().injectQueryStageOptimizerRule(session -> new AtStages());
    }

    /**
     * Returns the scan of this table at this snapshot in a planned query that has not run yet.
     *
     * <p>Null if the query is not adaptive, or if it refers to the table more than once, or if its plan has no such scan,
     * or several of the table: Spark may use the rows of one of them for another one, which has no filter.
     */
    public LateScan watch(QueryExecution execution, String table, long snapshot) throws ReflectiveOperationException {
        if (!(execution.executedPlan() instanceof AdaptiveSparkPlanExec plan)) {
            return null;
        }
        List<BatchScanExec> scans = new ArrayList<>();
        collect(plan, scans);
        List<BatchScanExec> found = new ArrayList<>();
        for (BatchScanExec exec : scans) {
            if (isOf(exec.scan(), table)) {
                found.add(exec);
            }
        }
        if (found.size() != 1 || !isPlain(found.get(0)) || snapshotOf(found.get(0).scan()) != snapshot) {
            return null;
        }
        if (TableReferences.of(execution.analyzed(), table).size() != 1) {
            // Spark may have dropped the reference that the filter is for, and this is the scan of another one.
            return null;
        }
        LateScan known = watched.get(found.get(0).scan());
        if (known != null) {
            return known;
        }
        LateScan late = new LateScan(table, snapshot);
        watched.put(found.get(0).scan(), late);
        return late;
    }

    /** Collects the scans of a plan as it begins, with those of its subqueries. */
    static void collect(SparkPlan plan, List<BatchScanExec> into) {
        if (plan instanceof AdaptiveSparkPlanExec adaptive) {
            collect(adaptive.initialPlan(), into);
            return;
        }
        if (CometNodes.original(plan) instanceof BatchScanExec exec) {
            into.add(exec);
        }
        list(plan.children()).forEach(child -> collect(child, into));
        list(plan.subqueries()).forEach(subquery -> collect(subquery, into));
    }

    /** Whether nothing above the scan knows how its rows are divided among its partitions. */
    static boolean isPlain(BatchScanExec exec) {
        return exec.keyGroupedPartitioning().isEmpty() && exec.ordering().isEmpty();
    }

    /** Whether it reads data of this table, in whatever way. */
    static boolean isOf(Scan scan, String table) throws ReflectiveOperationException {
        if (PackagePrivate.method(scan.getClass(), "table") == null) {
            return false;
        }
        return PackagePrivate.call(scan, "table") instanceof Table read && read.name().equalsIgnoreCase(table);
    }

    /** Returns the snapshot that the scan reads; -1 if it reads another part of its table. */
    static long snapshotOf(Scan scan) throws ReflectiveOperationException {
        boolean isWhole = scan.getClass().getName().equals(WHOLE);
        return isWhole && PackagePrivate.field(scan, "snapshot") instanceof Snapshot read ? read.snapshotId() : -1;
    }

    /** Returns a node like this one that runs these tasks of its scan. `node` stands for `exec`, or is `exec`. */
    static SparkPlan withTasks(BatchScanExec exec, SparkPlan node, List<Object> tasks)
            throws ReflectiveOperationException {
        Method reset = resetting(exec.scan().getClass());
        // Spark keeps a node if the new one is equal. Its cache of stages has the plan before this rule.
        List<Expression> filters = new ArrayList<>(list(CometNodes.runtimeFiltersOf(exec, node)));
        filters.add(Literal$.MODULE$.TrueLiteral());
        BatchScanExec left = exec.copy(
            exec.output(), exec.scan(), seq(filters), exec.ordering(), exec.table(), exec.spjParams());
        left.copyTagsFrom(exec);
        SparkPlan copy = node == exec ? left : CometNodes.withOriginal(node, left);
        // Last: until here, the scan is left as it is if something fails.
        reset.invoke(exec.scan(), tasks);
        return copy;
    }

    private static Method resetting(Class<?> scan) throws NoSuchMethodException {
        for (Class<?> type = scan; type != null; type = type.getSuperclass()) {
            for (Method method : type.getDeclaredMethods()) {
                if (method.getName().equals("resetTasks") && method.getParameterCount() == 1) {
                    method.setAccessible(true);
                    return method;
                }
            }
        }
        throw new NoSuchMethodException("resetTasks");
    }

    private final class AtStages extends Rule<SparkPlan> {

        @Override
        public SparkPlan apply(SparkPlan plan) {
            if (!(CometNodes.original(plan) instanceof BatchScanExec exec)) {
                return plan.mapChildren(this::apply);
            }
            LateScan late = watched.get(exec.scan());
            return late == null ? plan : late.atStage(exec, plan);
        }
    }
}
