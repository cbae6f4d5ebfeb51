package sluice.relations;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastDistribution;
import org.apache.spark.sql.catalyst.plans.physical.Distribution;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ExecSubqueryExpression;
import org.apache.spark.sql.execution.LocalTableScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SubqueryAdaptiveBroadcastExec;

/**
 * Lets joins read hashed rows that an earlier query has broadcast. It runs after Spark has chosen each join, and
 * before the exchanges are added.
 *
 * <p>Spark would hash and broadcast rows that are already in the driver anew for each query, by a job. Where Spark
 * reads the keys of its own pruning from the same rows, both stay one broadcast of Spark: otherwise the keys would not
 * be there.
 */
public final class CachedBroadcasts extends Rule<SparkPlan> {

    private final RelationCache cache;

    public CachedBroadcasts(RelationCache cache) {
        this.cache = cache;
    }

    @Override
    public SparkPlan apply(SparkPlan plan) {
        if (!"true".equals(conf().getConfString(FoldRelations.SWITCH, "false"))) {
            return plan;
        }
        Set<Object> keys = Collections.newSetFromMap(new IdentityHashMap<>());
        addRowsOfKeys(plan, keys);
        return withCached(plan, keys);
    }

    private SparkPlan withCached(SparkPlan plan, Set<Object> keys) {
        SparkPlan found = plan.mapChildren(child -> withCached(child, keys));
        List<SparkPlan> children = new ArrayList<>(list(found.children()));
        List<Distribution> required = list(found.requiredChildDistribution());
        boolean isChanged = false;
        for (int at = 0; at < children.size(); at++) {
            if (required.get(at) instanceof BroadcastDistribution broadcast
                    && children.get(at) instanceof LocalTableScanExec scan
                    && !keys.contains(scan.rows())) {
                KnownRows rows = cache.of(scan.rows());
                if (rows != null) {
                    children.set(at, new CachedBroadcastExec(scan.output(), broadcast.mode(), rows));
                    isChanged = true;
                }
            }
        }
        return isChanged ? found.withNewChildren(seq(children)) : found;
    }

    private static void addRowsOfKeys(SparkPlan plan, Set<Object> found) {
        for (Expression expression : iterable(plan.expressions())) {
            addRowsOfKeys(expression, found);
        }
        for (SparkPlan child : list(plan.children())) {
            addRowsOfKeys(child, found);
        }
    }

    private static void addRowsOfKeys(Expression expression, Set<Object> found) {
        if (expression instanceof DynamicPruningSubquery filter) {
            addRows(filter.buildQuery(), found);
        } else if (expression instanceof ExecSubqueryExpression subquery
                && subquery.plan() instanceof SubqueryAdaptiveBroadcastExec keys) {
            addRows(keys.buildPlan(), found);
        }
        for (Expression child : list(expression.children())) {
            addRowsOfKeys(child, found);
        }
    }

    private static void addRows(LogicalPlan keys, Set<Object> found) {
        if (keys instanceof LocalRelation relation) {
            found.add(relation.data());
        }
    }
}
