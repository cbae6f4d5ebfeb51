package sluice.reuse;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.HasTableOperations;
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
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoopRef;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import sluice.policies.RelationNames;
import sluice.statements.PlanVetting;

/** Collects the names of everything in a plan, and what of it may give another result each time. */
final class Dependencies {

    private final Set<String> nodes = new TreeSet<>();
    private final Set<String> expressions = new TreeSet<>();
    private final Set<String> nondeterministic = new TreeSet<>();
    private final Set<String> others = new TreeSet<>();
    private final Set<String> aggregates = new TreeSet<>();
    private final List<TableRead> reads = new ArrayList<>();
    private boolean isMomentary;

    /** A reference to a table, in the state in which it was loaded for this plan. */
    record TableRead(
        List<String> name,
        String uuid,
        int schemaId,
        String location,
        Long snapshotId,
        @JsonProperty("isVersion") boolean isVersion,
        boolean hasOptions) {}

    void addPlan(LogicalPlan plan) {
        nodes.add(PlanVetting.nameOf(plan));
        if (plan.isStreaming()) {
            others.add("Streaming");
        }
        if (plan instanceof DataSourceV2Relation relation) {
            addTable(relation);
        } else if (list(plan.children()).isEmpty() && !isWithoutTable(plan)) {
            others.add(PlanVetting.nameOf(plan));
        }
        if (!isBarrier(plan)) {
            addAll(list(plan.expressions()));
        }
        for (LogicalPlan child : list(plan.children())) {
            addPlan(child);
        }
    }

    private void addTable(DataSourceV2Relation relation) {
        List<String> name = RelationNames.nameOf(relation);
        if (name == null
            || !(relation.table() instanceof SparkTable loaded)
            || loaded.table() instanceof BaseMetadataTable
            || !(loaded.table() instanceof HasTableOperations table)) {
            others.add(relation.table().getClass().getName());
            return;
        }
        boolean isVersion = relation.timeTravelSpec().isDefined();
        reads.add(new TableRead(
            name,
            loaded.table().uuid().toString(),
            loaded.table().schema().schemaId(),
            table.operations().current().metadataFileLocation(),
            loaded.snapshotId(),
            isVersion,
            !relation.options().isEmpty()));
        if (isVersion && relation.timeTravelSpec().get() instanceof AsOfTimestamp) {
            // It may have been computed from the present, and nothing in the plan says so.
            isMomentary = true;
        }
    }

    private static boolean isWithoutTable(LogicalPlan node) {
        return node instanceof LocalRelation
            || node instanceof OneRowRelation
            || node instanceof Range
            || node instanceof CTERelationRef
            || node instanceof UnionLoopRef;
    }

    private void addAll(List<Expression> values) {
        values.forEach(this::add);
    }

    private void add(Expression value) {
        String name = PlanVetting.nameOf(value);
        expressions.add(name);
        if (value instanceof AggregateFunction) {
            aggregates.add(name);
        }
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

    List<TableRead> reads() {
        return reads;
    }

    Set<String> aggregates() {
        return aggregates;
    }

    Set<String> others() {
        return others;
    }

    boolean isMomentary() {
        return isMomentary;
    }
}
