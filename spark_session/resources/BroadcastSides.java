import java.util.ArrayList;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.CombineFilters$;
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
import scala.Option;
import scala.runtime.AbstractFunction1;

/**
 * Keeps the side of a join that Spark prunes by the other side from being broadcast itself.
 *
 * Spark broadcasts the smaller side. A scan that our filters have narrowed may have become that side, and is then
 * pruned by the other one no more (`PlanDynamicPruningFilters` takes the filter away unless its side is broadcast).
 * Only where the other side is small enough to be broadcast, and only in statements that ask for it.
 *
 * Spark also takes the filter away where the plan for its keys is not equal to the side of the join. It optimizes a
 * subquery, makes a join of it, and prunes that join once more: in the join's side the second filter of the same keys
 * is dropped when filters are combined, and must be in the plan for the keys, too.
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

    /** The same in what is read for keys: it is broadcast once for both, and so must stay equal to the join's side. */
    private Expression inBuildSides(Expression condition) {
        if (condition instanceof DynamicPruningSubquery) {
            DynamicPruningSubquery filter = (DynamicPruningSubquery) condition;
            return filter.withNewPlan(kept((LogicalPlan) CombineFilters$.MODULE$.apply(filter.buildQuery())));
        }
        return (Expression) condition.mapChildren(new AbstractFunction1() {
            public Object apply(Object child) {
                return inBuildSides((Expression) child);
            }
        });
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

    /** Columns have numbers of their own: no two sides of a query's joins have the same. */
    private static boolean isOf(DynamicPruningSubquery filter, LogicalPlan by) {
        int at = ((Integer) filter.broadcastKeyIndices().head()).intValue();
        Expression key = (Expression) filter.buildKeys().apply(at);
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
