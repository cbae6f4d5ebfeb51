package sluice.sessions;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** The filters by which Spark prunes a scan by the keys of another plan. */
final class PruningFilters {

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
