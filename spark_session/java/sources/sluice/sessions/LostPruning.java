package sluice.sessions;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.PushDownPredicates$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.dynamicpruning.CleanupDynamicPruningFilters$;
import org.apache.spark.sql.execution.dynamicpruning.PartitionPruning$;
import scala.Option;
import scala.runtime.AbstractFunction1;

/**
 * Prunes scans as Spark would without our filters, in statements that ask for it.
 *
 * Spark prunes a scan only by columns that the scan names, and all branches of a union by the columns that the first
 * branch names. Our filters leave fewer files, and so fewer names (`AllSpecs`). For each join, this rule finds what
 * Spark would add if the scans named all of them, and adds what is missing.
 */
public final class LostPruning extends Rule {

    private static final int PASSES_AT_MOST = 20;

    public TreeNode apply(TreeNode plan) {
        if (!"true".equals(conf().getConfString(BroadcastSides.SWITCH, "false"))) {
            return plan;
        }
        AllSpecs specs = new AllSpecs();
        try {
            try {
                return specs.open((LogicalPlan) plan) ? (TreeNode) pushedDown((LogicalPlan) plan) : plan;
            } finally {
                specs.close();
            }
        } catch (ReflectiveOperationException failure) {
            // Another version of Iceberg: Spark prunes what it can.
            return plan;
        }
    }

    private static LogicalPlan pushedDown(LogicalPlan plan) {
        LogicalPlan found = restored(plan);
        if (found == plan) {
            return plan;
        }
        for (int i = 0; i < PASSES_AT_MOST; i++) {
            LogicalPlan next = (LogicalPlan) PushDownPredicates$.MODULE$.apply(found);
            if (next.fastEquals(found)) {
                break;
            }
            found = next;
        }
        return (LogicalPlan) CleanupDynamicPruningFilters$.MODULE$.apply(found);
    }

    private static LogicalPlan restored(LogicalPlan plan) {
        LogicalPlan found = (LogicalPlan) plan.mapChildren(new AbstractFunction1() {
            public Object apply(Object child) {
                return restored((LogicalPlan) child);
            }
        });
        return found instanceof Join ? joined((Join) found) : found;
    }

    private static LogicalPlan joined(Join join) {
        LogicalPlan pruned = (LogicalPlan) PartitionPruning$.MODULE$.apply(
            with(join, withoutConditions(join.left()), withoutConditions(join.right())));
        if (!(pruned instanceof Join)) {
            return join;
        }
        LogicalPlan left = filtered(join.left(), ((Join) pruned).left(), join.right());
        LogicalPlan right = filtered(join.right(), ((Join) pruned).right(), join.left());
        return left == join.left() && right == join.right() ? join : with(join, left, right);
    }

    /** Adds those filters of the pruned plan that the plan does not have; their keys are read from `by`. */
    private static LogicalPlan filtered(LogicalPlan plan, LogicalPlan pruned, LogicalPlan by) {
        ArrayList known = new ArrayList();
        collect(plan, known);
        LogicalPlan found = plan;
        LogicalPlan rest = pruned;
        while (rest instanceof Filter && ((Filter) rest).condition() instanceof DynamicPruningSubquery) {
            DynamicPruningSubquery added = (DynamicPruningSubquery) ((Filter) rest).condition();
            if (!isKnown(added, known)) {
                found = new Filter(readFrom(added, by), found);
            }
            rest = ((Filter) rest).child();
        }
        return found;
    }

    private static Expression readFrom(DynamicPruningSubquery filter, LogicalPlan keys) {
        return filter.copy(
            filter.pruningKey(),
            keys,
            filter.buildKeys(),
            filter.broadcastKeyIndices(),
            filter.onlyInBroadcast(),
            filter.exprId(),
            filter.hint());
    }

    /** Pushing a filter down renames the column that it prunes, and not the key that it reads. */
    private static boolean isKnown(DynamicPruningSubquery filter, ArrayList known) {
        for (int i = 0; i < known.size(); i++) {
            if (keyOf((DynamicPruningSubquery) known.get(i)).semanticEquals(keyOf(filter))) {
                return true;
            }
        }
        return false;
    }

    private static Expression keyOf(DynamicPruningSubquery filter) {
        int at = ((Integer) list(filter.broadcastKeyIndices()).get(0)).intValue();
        return (Expression) list(filter.buildKeys()).get(at);
    }

    /** Spark then leaves the joins below as they are, and looks only at the join above them. */
    private static LogicalPlan withoutConditions(LogicalPlan plan) {
        LogicalPlan found = (LogicalPlan) plan.mapChildren(new AbstractFunction1() {
            public Object apply(Object child) {
                return withoutConditions((LogicalPlan) child);
            }
        });
        if (found instanceof Join) {
            Join join = (Join) found;
            return join.copy(join.left(), join.right(), join.joinType(), Option.apply(null), join.hint());
        }
        return found;
    }

    private static Join with(Join join, LogicalPlan left, LogicalPlan right) {
        return join.copy(left, right, join.joinType(), join.condition(), join.hint());
    }

    private static void collect(LogicalPlan plan, ArrayList found) {
        if (plan instanceof Filter) {
            collect(((Filter) plan).condition(), found);
        }
        scala.collection.Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            collect((LogicalPlan) children.next(), found);
        }
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
