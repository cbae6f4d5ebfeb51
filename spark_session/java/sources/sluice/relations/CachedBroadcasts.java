package sluice.relations;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastDistribution;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode;
import org.apache.spark.sql.catalyst.plans.physical.Distribution;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ExecSubqueryExpression;
import org.apache.spark.sql.execution.LocalTableScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SubqueryAdaptiveBroadcastExec;
import org.apache.spark.sql.execution.SubqueryBroadcastExec;
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec;
import org.apache.spark.sql.execution.joins.HashedRelationBroadcastMode;

/**
 * Lets joins read hashed rows that an earlier query has made. It runs after Spark has chosen each join.
 *
 * <p>Spark would hash and broadcast rows that are already in the driver anew for each query, by a job. Where Spark
 * reads the keys of its own pruning from the same rows, both stay one broadcast of Spark: otherwise the keys would not
 * be there. `NOT IN` stays with Spark, too: it looks at the hashed rows while it plans.
 */
final class CachedBroadcasts extends Rule<SparkPlan> {

    private final RelationCache cache;

    CachedBroadcasts(RelationCache cache) {
        this.cache = cache;
    }

    @Override
    public SparkPlan apply(SparkPlan plan) {
        if (!"true".equals(conf().getConfString(FoldRelations.SWITCH, "false"))) {
            return plan;
        }
        Set<Long> keys = new HashSet<>();
        addRowsOfKeys(plan, keys);
        return withCached(plan, keys);
    }

    private SparkPlan withCached(SparkPlan plan, Set<Long> keys) {
        SparkPlan found = plan.mapChildren(child -> withCached(child, keys));
        List<SparkPlan> children = new ArrayList<>(list(found.children()));
        List<Distribution> required = list(found.requiredChildDistribution());
        boolean isChanged = false;
        for (int at = 0; at < children.size(); at++) {
            SparkPlan cached = required.get(at) instanceof BroadcastDistribution distribution
                ? cached(children.get(at), distribution.mode(), keys)
                : null;
            if (cached != null) {
                children.set(at, cached);
                isChanged = true;
            }
        }
        return isChanged ? found.withNewChildren(seq(children)) : found;
    }

    /** Returns a leaf instead of the side of a join; null if it is not only known rows. */
    private SparkPlan cached(SparkPlan side, BroadcastMode mode, Set<Long> keys) {
        boolean isExchanged = side instanceof BroadcastExchangeExec exchange && exchange.mode().equals(mode);
        SparkPlan read = isExchanged ? list(side.children()).get(0) : side;
        boolean isNullAware = mode instanceof HashedRelationBroadcastMode hashed && hashed.isNullAware();
        if (isNullAware || !(read instanceof LocalTableScanExec scan)) {
            return null;
        }
        KnownRows rows = cache.of(scan.rows());
        return rows == null || keys.contains(rows.number())
            ? null
            : new CachedBroadcastExec(scan.output(), mode, rows);
    }

    private void addRowsOfKeys(SparkPlan plan, Set<Long> found) {
        for (Expression expression : iterable(plan.expressions())) {
            addRowsOfKeys(expression, found);
        }
        for (SparkPlan child : list(plan.children())) {
            addRowsOfKeys(child, found);
        }
    }

    private void addRowsOfKeys(Expression expression, Set<Long> found) {
        if (expression instanceof DynamicPruningSubquery filter) {
            addRows(filter.buildQuery(), found);
        } else if (expression instanceof ExecSubqueryExpression subquery) {
            SparkPlan keys = subquery.plan();
            if (keys instanceof SubqueryAdaptiveBroadcastExec later) {
                addRows(later.buildPlan(), found);
            } else if (keys instanceof SubqueryBroadcastExec) {
                addRows(keys, found);
            }
        }
        for (Expression child : list(expression.children())) {
            addRowsOfKeys(child, found);
        }
    }

    private void addRows(LogicalPlan keys, Set<Long> found) {
        if (keys instanceof LocalRelation relation) {
            add(cache.of(relation.data()), found);
        }
        list(keys.children()).forEach(child -> addRows(child, found));
    }

    private void addRows(SparkPlan keys, Set<Long> found) {
        if (keys instanceof LocalTableScanExec scan) {
            add(cache.of(scan.rows()), found);
        }
        list(keys.children()).forEach(child -> addRows(child, found));
    }

    private static void add(KnownRows rows, Set<Long> found) {
        if (rows != null) {
            found.add(rows.number());
        }
    }
}
