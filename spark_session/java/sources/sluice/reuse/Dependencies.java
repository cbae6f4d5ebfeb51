package sluice.reuse;

import static sluice.collections.Lists.list;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.analysis.AsOfTimestamp;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.InheritAnalysisRules;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import sluice.statements.PlanVetting;

/** Collects the names of everything in a plan, and what of it may give another result each time. */
final class Dependencies {

    private final Set<String> nodes = new TreeSet<>();
    private final Set<String> expressions = new TreeSet<>();
    private final Set<String> nondeterministic = new TreeSet<>();
    private final Set<String> others = new TreeSet<>();
    private boolean isMomentary;

    void addPlan(LogicalPlan plan) {
        nodes.add(PlanVetting.nameOf(plan));
        if (plan.isStreaming()) {
            others.add("Streaming");
        }
        if (plan instanceof DataSourceV2Relation relation) {
            addTable(relation);
        }
        if (!isBarrier(plan)) {
            addAll(list(plan.expressions()));
        }
        for (LogicalPlan child : list(plan.children())) {
            addPlan(child);
        }
    }

    private void addTable(DataSourceV2Relation relation) {
        if (!(relation.table() instanceof SparkTable table)) {
            others.add(relation.table().getClass().getName());
        } else if (table.table() instanceof BaseMetadataTable) {
            others.add("Metadata");
        } else if (relation.timeTravelSpec().isDefined() && relation.timeTravelSpec().get() instanceof AsOfTimestamp) {
            // It may have been computed from the present, and nothing in the plan says so.
            isMomentary = true;
        }
    }

    private void addAll(List<Expression> values) {
        values.forEach(this::add);
    }

    private void add(Expression value) {
        String name = PlanVetting.nameOf(value);
        expressions.add(name);
        if (!value.deterministic()) {
            nondeterministic.add(name);
        }
        if (value instanceof Cast cast && TextsAsTimes.mayReadPresent(cast)) {
            isMomentary = true;
        }
        if (value instanceof PlanExpression<?> subquery && subquery.plan() instanceof LogicalPlan plan) {
            addPlan(plan);
        }
        if (value instanceof RuntimeReplaceable replaceable && !(value instanceof InheritAnalysisRules)) {
            // It has the arguments. To visit these as well would take a time that doubles with each level.
            add(replaceable.replacement());
        } else {
            addAll(list(value.children()));
        }
    }

    /** Whether a filter is always true, and only keeps the optimizer from moving others. */
    private static boolean isBarrier(LogicalPlan plan) {
        return plan instanceof Filter filter
            && filter.condition() instanceof GreaterThanOrEqual condition
            && condition.left() instanceof SparkPartitionID
            && condition.right() instanceof Literal bound
            && Integer.valueOf(0).equals(bound.value());
    }

    Set<String> nodes() {
        return nodes;
    }

    Set<String> expressions() {
        return expressions;
    }

    Set<String> nondeterministic() {
        return nondeterministic;
    }

    Set<String> others() {
        return others;
    }

    boolean isMomentary() {
        return isMomentary;
    }
}
