package sluice.sessions;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.Cross$;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.dynamicpruning.PartitionPruning$;
import scala.Option;

/**
 * Prunes scans as Spark would without our filters, in statements that ask for it.
 *
 * <p>Spark prunes a scan only by columns that the scan names, and all branches of a union by the columns that the first
 * branch names. Our filters leave fewer files, and so fewer names (`AllSpecs`). For each join, this rule finds what
 * Spark would add if the scans named all of them, and adds what is missing.
 */
public final class LostPruning extends Rule<LogicalPlan> {

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        if (!"true".equals(conf().getConfString(BroadcastSides.SWITCH, "false"))) {
            return plan;
        }
        try (AllSpecs specs = new AllSpecs()) {
            return specs.open(plan) ? pushedDown(plan, specs) : plan;
        } catch (ReflectiveOperationException failure) {
            // Another version of Iceberg: Spark prunes what it can.
            return plan;
        }
    }

    private static LogicalPlan pushedDown(LogicalPlan plan, AllSpecs specs) {
        LogicalPlan found = restored(plan, specs);
        return found == plan ? plan : PruningFilters.pushedDown(found);
    }

    private static LogicalPlan restored(LogicalPlan plan, AllSpecs specs) {
        LogicalPlan found = plan.mapChildren(child -> restored(child, specs));
        return found instanceof Join join ? joined(join, specs) : found;
    }

    private static Join joined(Join join, AllSpecs specs) {
        LogicalPlan bareLeft = withoutConditions(join.left());
        LogicalPlan bareRight = withoutConditions(join.right());
        if (!(PartitionPruning$.MODULE$.apply(with(join, bareLeft, bareRight)) instanceof Join sides)) {
            return join;
        }
        LogicalPlan left = filtered(join.left(), sides.left(), join.right(), specs);
        LogicalPlan right = filtered(join.right(), sides.right(), join.left(), specs);
        Join found = left == join.left() && right == join.right() ? join : with(join, left, right);
        if (!isEitherPruned(join.joinType())) {
            return found;
        }
        Join turned = new Join(bareRight, bareLeft, Inner$.MODULE$, join.condition(), join.hint());
        return PartitionPruning$.MODULE$.apply(turned) instanceof Join others
            ? withRightPruned(found, filtered(join.right(), others.left(), join.left(), specs))
            : found;
    }

    /**
     * Returns the join with this right side, if Spark would prune that one without our filters.
     *
     * <p>Spark prunes the left side where the right one has a filter, and only otherwise the right side. A filter of
     * ours on the right side may be the only one there, and a left side without files has nothing to prune.
     */
    private static Join withRightPruned(Join join, LogicalPlan right) {
        boolean isLeftPruned = BroadcastSides.isPruned(join.left(), join.right());
        if (BroadcastSides.isPruned(join.right(), join.left()) || isLeftPruned && OwnFilters.hasOthers(join.right())) {
            return join;
        }
        if (!BroadcastSides.isPruned(right, join.left())) {
            return join;
        }
        LogicalPlan left = isLeftPruned ? KeyPlans.without(join.left(), join.right()) : join.left();
        return with(join, left, right);
    }

    private static boolean isEitherPruned(JoinType type) {
        return type == Inner$.MODULE$ || type == Cross$.MODULE$ || type == LeftSemi$.MODULE$;
    }

    /**
     * Adds those filters of the pruned plan that the plan does not have, and that may leave fewer files; their keys
     * are read from `by`.
     */
    static LogicalPlan filtered(LogicalPlan plan, LogicalPlan pruned, LogicalPlan by, AllSpecs specs) {
        List<DynamicPruningSubquery> known = new ArrayList<>();
        collect(plan, known);
        LogicalPlan found = plan;
        LogicalPlan rest = pruned;
        while (rest instanceof Filter filter && filter.condition() instanceof DynamicPruningSubquery added) {
            if (!isKnown(added, known) && !isEmpty(added, plan, specs)) {
                found = new Filter(PruningFilters.reading(by, added, added.onlyInBroadcast()), found);
            }
            rest = filter.child();
        }
        return found;
    }

    /**
     * Whether the scan that the filter prunes has no files. Its keys might be read for nothing.
     *
     * <p>Of a union, Spark names the scan of the first branch alone; others may have files.
     */
    private static boolean isEmpty(DynamicPruningSubquery filter, LogicalPlan plan, AllSpecs specs) {
        if (hasUnion(plan)) {
            return false;
        }
        Option<LogicalPlan> scan = PartitionPruning$.MODULE$.getFilterableTableScan(filter.pruningKey(), plan);
        return scan.isDefined() && specs.hasNoFiles(scan.get());
    }

    private static boolean hasUnion(LogicalPlan plan) {
        return plan instanceof Union || list(plan.children()).stream().anyMatch(LostPruning::hasUnion);
    }

    /** Pushing a filter down renames the column that it prunes, and not the key that it reads. */
    private static boolean isKnown(DynamicPruningSubquery filter, List<DynamicPruningSubquery> known) {
        Expression key = PruningFilters.keyOf(filter);
        return known.stream().anyMatch(each -> PruningFilters.keyOf(each).semanticEquals(key));
    }

    /** Spark then leaves the joins below as they are, and looks only at the join above them. */
    private static LogicalPlan withoutConditions(LogicalPlan plan) {
        LogicalPlan found = plan.mapChildren(LostPruning::withoutConditions);
        return found instanceof Join join
            ? join.copy(join.left(), join.right(), join.joinType(), Option.empty(), join.hint())
            : found;
    }

    private static Join with(Join join, LogicalPlan left, LogicalPlan right) {
        return join.copy(left, right, join.joinType(), join.condition(), join.hint());
    }

    private static void collect(LogicalPlan plan, List<DynamicPruningSubquery> found) {
        if (plan instanceof Filter filter) {
            found.addAll(PruningFilters.in(filter.condition()));
        }
        for (LogicalPlan child : list(plan.children())) {
            collect(child, found);
        }
    }
}
