package sluice.sessions;

import static sluice.collections.Lists.list;

import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.Cross$;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.NO_BROADCAST_HASH$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.dynamicpruning.PartitionPruning$;
import scala.Option;

/**
 * Keeps the filters by which Spark prunes scans on its own, in statements that ask for it.
 *
 * <p>Spark broadcasts the smaller side of a join and prunes a scan of the other side by the broadcast rows. If it finds
 * no such broadcast, it removes the filter (`PlanDynamicPruningFilters`). Our own filters change which side is the
 * smaller one, and the plans of both sides. So this class does the following where the keys are few enough to be
 * broadcast:
 *
 * <ul>
 *   <li>The pruned side is not broadcast itself, unless a hint asks for it.
 *   <li>The plan that reads the keys stays equal to the join's side, so that both are one broadcast. Spark optimizes a
 *       subquery, turns it into a join, and prunes that join once more; combining filters then drops the second filter
 *       on the join's side alone. Filters of joins further out reach that side alone, too (`KeyPlans`).
 *   <li>If the two differ all the same, the keys are read separately, so that the scan is still pruned. The keys of a
 *       side that no join of its type broadcasts are not: Spark would not prune by them either.
 * </ul>
 */
public final class BroadcastSides extends Rule<LogicalPlan> {

    static final String SWITCH = "spark.sluice.keepsPrunedSides";

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        return "true".equals(conf().getConfString(SWITCH, "false")) ? kept(plan, List.of()) : plan;
    }

    /** `unsent` are the sides of joins further out that Spark cannot broadcast. */
    private LogicalPlan kept(LogicalPlan plan, List<LogicalPlan> unsent) {
        if (plan instanceof Join join) {
            return hinted(KeyPlans.ofSides(withKept(join, unsent)));
        }
        LogicalPlan found = plan.mapChildren(child -> kept(child, unsent));
        return found instanceof Filter ? found.mapExpressions(each -> inBuildSides(each, unsent)) : found;
    }

    private Join withKept(Join join, List<LogicalPlan> unsent) {
        JoinType type = join.joinType();
        LogicalPlan left = join.left();
        LogicalPlan right = join.right();
        boolean isLeftSent = PartitionPruning$.MODULE$.canBuildBroadcastLeft(type);
        boolean isRightSent = PartitionPruning$.MODULE$.canBuildBroadcastRight(type);
        LogicalPlan keptLeft = kept(left, isRightSent ? unsent : with(unsent, right));
        LogicalPlan keptRight = kept(right, isLeftSent ? unsent : with(unsent, left));
        return keptLeft == left && keptRight == right
            ? join
            : join.copy(keptLeft, keptRight, type, join.condition(), join.hint());
    }

    private static List<LogicalPlan> with(List<LogicalPlan> plans, LogicalPlan added) {
        return Stream.concat(plans.stream(), Stream.of(added)).toList();
    }

    /** Applies the same to plans that read keys: one broadcast serves both, so they must equal the join's side. */
    private Expression inBuildSides(Expression condition, List<LogicalPlan> unsent) {
        if (condition instanceof DynamicPruningSubquery filter) {
            LogicalPlan keys = kept(PruningFilters.pushedDown(filter.buildQuery()), List.of());
            boolean isSent = unsent.stream().noneMatch(side -> PruningFilters.isOf(filter, side));
            return PruningFilters.reading(keys, filter, filter.onlyInBroadcast() && !(isSent && isSmall(keys)));
        }
        return condition.mapChildren(each -> inBuildSides(each, unsent));
    }

    private LogicalPlan hinted(Join join) {
        JoinType type = join.joinType();
        boolean isInner = type == Inner$.MODULE$ || type == Cross$.MODULE$;
        if (!join.hint().isEmpty()) {
            return join;
        }
        boolean isLeftPruned =
            (isInner || type == LeftSemi$.MODULE$) && isPruned(join.left(), join.right()) && isSmall(join.right());
        if (isLeftPruned) {
            return with(join, new JoinHint(notBroadcast(), Option.empty()));
        }
        if (isInner && isPruned(join.right(), join.left()) && isSmall(join.left())) {
            return with(join, new JoinHint(Option.empty(), notBroadcast()));
        }
        return join;
    }

    private static LogicalPlan with(Join join, JoinHint hint) {
        return join.copy(join.left(), join.right(), join.joinType(), join.condition(), hint);
    }

    private static Option<HintInfo> notBroadcast() {
        return Option.apply(new HintInfo(Option.apply(NO_BROADCAST_HASH$.MODULE$)));
    }

    private boolean isSmall(LogicalPlan plan) {
        return plan.stats().sizeInBytes().toLong() <= conf().autoBroadcastJoinThreshold();
    }

    /** Whether a scan in the plan is pruned by keys of the other one. */
    static boolean isPruned(LogicalPlan plan, LogicalPlan by) {
        boolean isFiltered = plan instanceof Filter filter
            && PruningFilters.in(filter.condition()).stream().anyMatch(each -> PruningFilters.isOf(each, by));
        if (isFiltered) {
            return true;
        }
        for (LogicalPlan child : list(plan.children())) {
            if (isPruned(child, by)) {
                return true;
            }
        }
        return false;
    }
}
