package sluice.sessions;

import static sluice.collections.Lists.seq;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.optimizer.PropagateEmptyRelation$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.Option;
import scala.runtime.AbstractFunction1;

/**
 * Drops what lies above a filter with a condition and its opposite, such as {@code day > 1 AND day <= 1}: no row passes.
 *
 * Spark finds such conditions only side by side. Where a filter of ours meets those of a query, Spark merges both and
 * may move the two apart, and would then read tables that it does not read for the query as written.
 */
public final class OppositeConditions extends Rule<LogicalPlan> {

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        LogicalPlan found = emptied(plan);
        return found == plan ? plan : PropagateEmptyRelation$.MODULE$.apply(found);
    }

    private static LogicalPlan emptied(LogicalPlan plan) {
        if (plan instanceof Filter filter && isNeverTrue(filter.condition())) {
            return new LocalRelation(filter.output(), seq(List.of()), filter.isStreaming(), Option.empty());
        }
        return plan.mapChildren(new AbstractFunction1<LogicalPlan, LogicalPlan>() {
            @Override
            public LogicalPlan apply(LogicalPlan child) {
                return emptied(child);
            }
        });
    }

    /** Whether two of the conditions are opposites. NULL passes a filter as little as FALSE does. */
    static boolean isNeverTrue(Expression condition) {
        List<Expression> parts = partsOf(condition);
        Set<Expression> seen = parts.stream().map(Expression::canonicalized).collect(Collectors.toSet());
        return parts.stream().anyMatch(part -> part.deterministic() && seen.contains(opposite(part)));
    }

    private static List<Expression> partsOf(Expression condition) {
        List<Expression> parts = new ArrayList<>();
        Deque<Expression> open = new ArrayDeque<>(List.of(condition));
        while (!open.isEmpty()) {
            Expression next = open.pop();
            if (next instanceof And and) {
                open.push(and.right());
                open.push(and.left());
            } else {
                parts.add(next);
            }
        }
        return parts;
    }

    private static Expression opposite(Expression part) {
        return part instanceof Not not ? not.child().canonicalized() : new Not(part).canonicalized();
    }
}
