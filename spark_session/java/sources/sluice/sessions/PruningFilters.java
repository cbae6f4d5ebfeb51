package sluice.sessions;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.AttributeSet;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.PushDownPredicates$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.dynamicpruning.CleanupDynamicPruningFilters$;

/** The filters by which Spark prunes a scan by the keys of another plan. */
final class PruningFilters {

    private static final int PASSES_AT_MOST = 20;

    private PruningFilters() {}

    /** Returns the filters in a condition. */
    static List<DynamicPruningSubquery> in(Expression condition) {
        List<DynamicPruningSubquery> found = new ArrayList<>();
        collect(condition, found);
        return found;
    }

    /** Returns the key whose values prune the scan. */
    static Expression keyOf(DynamicPruningSubquery filter) {
        int place = (Integer) list(filter.broadcastKeyIndices()).get(0);
        return list(filter.buildKeys()).get(place);
    }

    /** Whether the key is one of this plan. Columns have unique numbers: no two sides of a query's joins share one. */
    static boolean isOf(DynamicPruningSubquery filter, LogicalPlan plan) {
        AttributeSet columns = keyOf(filter).references();
        return columns.nonEmpty() && columns.subsetOf(plan.outputSet());
    }

    /**
     * Returns the plan as Spark leaves the sides of joins: the filters are pushed down to their scans, and those that
     * reach no scan are removed. Such a filter has its keys on the driver alone, so a plan that keeps one fails where
     * its rows are read.
     */
    static LogicalPlan pushedDown(LogicalPlan plan) {
        LogicalPlan found = plan;
        for (int i = 0; i < PASSES_AT_MOST; i++) {
            LogicalPlan next = PushDownPredicates$.MODULE$.apply(found);
            if (next.fastEquals(found)) {
                break;
            }
            found = next;
        }
        return CleanupDynamicPruningFilters$.MODULE$.apply(found);
    }

    /** Returns the same filter by the keys of this plan. */
    static DynamicPruningSubquery reading(LogicalPlan keys, DynamicPruningSubquery filter, boolean isOnlyInBroadcast) {
        return filter.copy(
            filter.pruningKey(),
            keys,
            filter.buildKeys(),
            filter.broadcastKeyIndices(),
            isOnlyInBroadcast,
            filter.exprId(),
            filter.hint());
    }

    private static void collect(Expression condition, List<DynamicPruningSubquery> found) {
        if (condition instanceof DynamicPruningSubquery filter) {
            found.add(filter);
            return;
        }
        for (Expression child : list(condition.children())) {
            collect(child, found);
        }
    }
}
