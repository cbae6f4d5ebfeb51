package sluice.sessions;

import static sluice.collections.Lists.list;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/**
 * The plans that read the keys by which Spark prunes scans.
 *
 * <p>Spark copies the other side of a join as it is when it looks at that join. Joins further out may prune the scans
 * of that side later, and filters are pushed down in the side alone: the copy would read more files than the side.
 */
final class KeyPlans {

    /** A plan for keys may be copied into others; each of them is planned on its own. */
    private static final int NODES_AT_MOST = 2_000;

    private KeyPlans() {}

    /**
     * Returns a join where filters on one side read their keys from the other side as it is now.
     *
     * <p>Where both sides prune each other, one filter must be without the other: that of the side that Spark can
     * broadcast, whose keys prune first. A side that would become too large keeps its keys as they are.
     */
    static Join ofSides(Join join) {
        LogicalPlan left = join.left();
        LogicalPlan right = join.right();
        if (join.joinType() == RightOuter$.MODULE$) {
            right = from(right, without(left, right));
            left = from(left, right);
        } else {
            left = from(left, without(right, left));
            right = from(right, left);
        }
        return left == join.left() && right == join.right()
            ? join
            : join.copy(left, right, join.joinType(), join.condition(), join.hint());
    }

    private static LogicalPlan from(LogicalPlan side, LogicalPlan keys) {
        if (!isKeyed(side, keys)) {
            return side;
        }
        LogicalPlan found = reading(side, keys);
        return nodes(found) <= NODES_AT_MOST ? found : side;
    }

    private static boolean isKeyed(LogicalPlan plan, LogicalPlan by) {
        return filters(plan).stream()
            .anyMatch(filter -> isReadable(filter, by) || isKeyed(filter.buildQuery(), by))
            || list(plan.children()).stream().anyMatch(child -> isKeyed(child, by));
    }

    private static boolean isReadable(DynamicPruningSubquery filter, LogicalPlan by) {
        return PruningFilters.isOf(filter, by)
            && list(filter.buildKeys()).stream().allMatch(key -> key.references().subsetOf(by.outputSet()));
    }

    private static LogicalPlan reading(LogicalPlan plan, LogicalPlan keys) {
        return mapped(plan, filter -> isReadable(filter, keys)
            ? PruningFilters.reading(keys, filter, filter.onlyInBroadcast())
            : inKeys(filter, query -> reading(query, keys)));
    }

    /** Returns the side without the filters that read their keys from the other plan. */
    static LogicalPlan without(LogicalPlan plan, LogicalPlan by) {
        return mapped(plan, filter -> PruningFilters.isOf(filter, by)
            ? Literal$.MODULE$.TrueLiteral()
            : inKeys(filter, query -> without(query, by)));
    }

    private interface Change {
        Expression of(DynamicPruningSubquery filter);
    }

    private interface PlanChange {
        LogicalPlan of(LogicalPlan plan);
    }

    private static Expression inKeys(DynamicPruningSubquery filter, PlanChange change) {
        LogicalPlan keys = change.of(filter.buildQuery());
        return keys == filter.buildQuery() ? filter : PruningFilters.reading(keys, filter, filter.onlyInBroadcast());
    }

    private static LogicalPlan mapped(LogicalPlan plan, Change change) {
        LogicalPlan found = plan.mapChildren(child -> mapped(child, change));
        return found instanceof Filter ? found.mapExpressions(condition -> mapped(condition, change)) : found;
    }

    private static Expression mapped(Expression condition, Change change) {
        return condition instanceof DynamicPruningSubquery filter
            ? change.of(filter)
            : condition.mapChildren(child -> mapped(child, change));
    }

    /** Returns how many operators a plan has, with those of the plans for its keys. */
    private static int nodes(LogicalPlan plan) {
        int found = 1;
        for (DynamicPruningSubquery filter : filters(plan)) {
            found += nodes(filter.buildQuery());
        }
        for (LogicalPlan child : list(plan.children())) {
            found += nodes(child);
        }
        return found;
    }

    private static List<DynamicPruningSubquery> filters(LogicalPlan plan) {
        return plan instanceof Filter filter ? PruningFilters.in(filter.condition()) : List.of();
    }
}
