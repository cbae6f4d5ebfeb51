package sluice.sessions;

import static sluice.collections.Lists.list;

import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.dynamicpruning.PartitionPruning$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Tells filters of ours from those of the query: where Spark prunes too, our lists of keys hold NULL.
 *
 * <p>Spark takes a side of a join for a source of keys if it has any filter that leaves out rows.
 */
final class OwnFilters {

    private OwnFilters() {}

    /** Whether Spark would read keys from the plan also without filters of ours. */
    static boolean hasOthers(LogicalPlan plan) {
        if (plan instanceof Filter filter && isOther(filter.condition())) {
            return true;
        }
        return list(plan.children()).stream().anyMatch(OwnFilters::hasOthers);
    }

    private static boolean isOther(Expression condition) {
        if (condition instanceof And and) {
            return isOther(and.left()) || isOther(and.right());
        }
        return !isOwn(condition) && PartitionPruning$.MODULE$.isLikelySelective(condition);
    }

    private static boolean isOwn(Expression condition) {
        if (condition instanceof And and) {
            return isOwn(and.left()) && isOwn(and.right());
        }
        if (condition instanceof Or or) {
            return isOwn(or.left()) && isOwn(or.right());
        }
        if (condition instanceof InSet set) {
            return CollectionConverters.asJava(set.hset()).contains(null);
        }
        return condition instanceof In in
            && list(in.list()).stream().anyMatch(each -> each instanceof Literal literal && literal.value() == null);
    }
}
