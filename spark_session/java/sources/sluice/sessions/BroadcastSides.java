package sluice.sessions;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.PushDownPredicates$;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.Cross$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.NO_BROADCAST_HASH$;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.dynamicpruning.CleanupDynamicPruningFilters$;
import scala.Option;
import scala.runtime.AbstractFunction1;

/**
 * Keeps the filters by which Spark prunes scans on its own, in statements that ask for it.
 *
 * Spark broadcasts the smaller side of a join and prunes a scan of the other side by the broadcast rows. If it finds
 * no such broadcast, it removes the filter (`PlanDynamicPruningFilters`). Our own filters change which side is the
 * smaller one, and the plans of both sides. So this class does the following where the keys are few enough to be
 * broadcast:
 *
 * - The pruned side is not broadcast itself, unless a hint asks for it.
 * - The plan that reads the keys stays equal to the join's side, so that both are one broadcast. Spark optimizes a
 *   subquery, turns it into a join, and prunes that join once more; combining filters then drops the second filter on
 *   the join's side alone.
 * - If the two differ all the same, the keys are read separately, so that the scan is still pruned.
 */
public final class BroadcastSides extends Rule {

    public static final String SWITCH = "spark.sluice.keepsPrunedSides";

    public TreeNode apply(TreeNode plan) {
        return "true".equals(conf().getConfString(SWITCH, "false")) ? (TreeNode) kept((LogicalPlan) plan) : plan;
    }

    private LogicalPlan kept(LogicalPlan plan) {
        LogicalPlan found = (LogicalPlan) plan.mapChildren(new AbstractFunction1() {
            public Object apply(Object child) {
                return kept((LogicalPlan) child);
            }
        });
        if (found instanceof Filter) {
            return (LogicalPlan) found.mapExpressions(new AbstractFunction1() {
                public Object apply(Object condition) {
                    return inBuildSides((Expression) condition);
                }
            });
        }
        return found instanceof Join ? hinted((Join) found) : found;
    }

    /** Applies the same to plans that read keys: one broadcast serves both, so they must equal the join's side. */
    private Expression inBuildSides(Expression condition) {
        if (condition instanceof DynamicPruningSubquery) {
            DynamicPruningSubquery filter = (DynamicPruningSubquery) condition;
            LogicalPlan keys = kept(cleanedUp(filter.buildQuery()));
            return filter.copy(
                filter.pruningKey(),
                keys,
                filter.buildKeys(),
                filter.broadcastKeyIndices(),
                filter.onlyInBroadcast() && !isSmall(keys),
                filter.exprId(),
                filter.hint());
        }
        return (Expression) condition.mapChildren(new AbstractFunction1() {
            public Object apply(Object child) {
                return inBuildSides((Expression) child);
            }
        });
    }

    /**
     * Returns the plan as Spark leaves the join's side: the filters for its own scans are pushed down, and filters
     * that reach no scan are removed. Such a filter has its keys on the driver alone, so a plan that keeps one fails
     * where its rows are read.
     */
    private static LogicalPlan cleanedUp(LogicalPlan keys) {
        LogicalPlan pushed = (LogicalPlan) PushDownPredicates$.MODULE$.apply(keys);
        return (LogicalPlan) CleanupDynamicPruningFilters$.MODULE$.apply(pushed);
    }

    private LogicalPlan hinted(Join join) {
        JoinType type = join.joinType();
        boolean isInner = type == Inner$.MODULE$ || type == Cross$.MODULE$;
        JoinHint hint = join.hint();
        if (!hint.isEmpty()) {
            return join;
        }
        boolean isLeftPruned =
            (isInner || type == LeftSemi$.MODULE$) && isPruned(join.left(), join.right()) && isSmall(join.right());
        if (isLeftPruned) {
            return with(join, new JoinHint(notBroadcast(), none()));
        }
        if (isInner && isPruned(join.right(), join.left()) && isSmall(join.left())) {
            return with(join, new JoinHint(none(), notBroadcast()));
        }
        return join;
    }

    private static LogicalPlan with(Join join, JoinHint hint) {
        return join.copy(join.left(), join.right(), join.joinType(), join.condition(), hint);
    }

    private static Option none() {
        return Option.apply(null);
    }

    private static Option notBroadcast() {
        return Option.apply(new HintInfo(Option.apply(NO_BROADCAST_HASH$.MODULE$)));
    }

    private boolean isSmall(LogicalPlan plan) {
        return plan.stats().sizeInBytes().toLong() <= conf().autoBroadcastJoinThreshold();
    }

    /** Whether a scan in the plan is pruned by keys of the other one. */
    private static boolean isPruned(LogicalPlan plan, LogicalPlan by) {
        if (plan instanceof Filter) {
            ArrayList filters = new ArrayList();
            collect(((Filter) plan).condition(), filters);
            for (int i = 0; i < filters.size(); i++) {
                if (isOf((DynamicPruningSubquery) filters.get(i), by)) {
                    return true;
                }
            }
        }
        scala.collection.Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            if (isPruned((LogicalPlan) children.next(), by)) {
                return true;
            }
        }
        return false;
    }

    /** Columns have unique numbers: no two sides of a query's joins share one. */
    private static boolean isOf(DynamicPruningSubquery filter, LogicalPlan by) {
        int at = ((Integer) list(filter.broadcastKeyIndices()).get(0)).intValue();
        Expression key = (Expression) list(filter.buildKeys()).get(at);
        return key.references().nonEmpty() && key.references().subsetOf(by.outputSet());
    }

    private static void collect(Expression condition, ArrayList found) {
        if (condition instanceof DynamicPruningSubquery) {
            found.add(condition);
            return;
        }
        scala.collection.Iterator children = condition.children().iterator();
        while (children.hasNext()) {
            collect((Expression) children.next(), found);
        }
    }
}
