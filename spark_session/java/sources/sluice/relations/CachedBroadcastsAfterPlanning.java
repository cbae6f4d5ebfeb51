package sluice.relations;

import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.ColumnarRule;
import org.apache.spark.sql.execution.SparkPlan;

/**
 * Lets joins read kept rows where a query runs without adaptive execution.
 *
 * <p>Spark then has no rules between its choice of joins and its exchanges. Its rules for columns come soon after. With
 * adaptive execution they must not replace an exchange, and `CachedBroadcasts` has done it before.
 */
final class CachedBroadcastsAfterPlanning extends ColumnarRule {

    private final Rule<SparkPlan> rule;

    CachedBroadcastsAfterPlanning(RelationCache cache) {
        rule = new CachedBroadcasts(cache);
    }

    @Override
    public Rule<SparkPlan> preColumnarTransitions() {
        return new Rule<>() {
            @Override
            public SparkPlan apply(SparkPlan plan) {
                return conf().adaptiveExecutionEnabled() ? plan : rule.apply(plan);
            }
        };
    }
}
