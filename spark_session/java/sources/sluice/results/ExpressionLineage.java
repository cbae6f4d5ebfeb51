package sluice.results;

import static sluice.collections.Lists.list;

import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.CaseWhen;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Tuple2;

/** Finds the sources of one expression of a plan. */
final class ExpressionLineage {

    private static final Set<String> HASHES =
        Set.of("Md5", "Sha1", "Sha2", "Crc32", "Murmur3Hash", "XxHash64", "HiveHash");

    private final PlanLineage plans;
    private final ColumnSources sources;
    private final Set<SourceColumn> found;

    /** Sources are added to `found`. */
    ExpressionLineage(PlanLineage plans, ColumnSources sources, Set<SourceColumn> found) {
        this.plans = plans;
        this.sources = sources;
        this.found = found;
    }

    /** Adds the sources of an expression, which takes part in this way at least. */
    void add(Expression node, SourceKind kind, boolean isMasked) {
        sources.step();
        if (node instanceof Attribute attribute) {
            attribute(attribute, kind, isMasked);
        } else if (node instanceof OuterReference outer) {
            add((Expression) outer.e(), kind, isMasked);
        } else if (node instanceof Alias alias) {
            add(alias.child(), kind, isMasked);
        } else if (node instanceof Cast cast && cast.child().dataType().equals(cast.dataType())) {
            // A view's columns are cast to the types that it was made with.
            add(cast.child(), kind, isMasked);
        } else if (node instanceof PlanExpression<?> query) {
            subquery((LogicalPlan) query.plan(), kind.or(SourceKind.TRANSFORMATION), isMasked);
        } else if (node instanceof WindowExpression window) {
            plans.decideAll(window.windowSpec().partitionSpec(), SourceKind.WINDOW);
            plans.decideAll(window.windowSpec().orderSpec(), SourceKind.WINDOW);
            add(window.windowFunction(), kind.or(SourceKind.TRANSFORMATION), isMasked);
        } else if (node instanceof AggregateExpression call) {
            add(call.aggregateFunction(), kind.or(SourceKind.AGGREGATION), isMasked);
            if (call.filter().isDefined()) {
                add(call.filter().get(), kind.or(SourceKind.CONDITIONAL), isMasked);
            }
        } else if (node instanceof If choice) {
            add(choice.predicate(), kind.or(SourceKind.CONDITIONAL), isMasked);
            add(choice.trueValue(), kind.or(SourceKind.TRANSFORMATION), isMasked);
            add(choice.falseValue(), kind.or(SourceKind.TRANSFORMATION), isMasked);
        } else if (node instanceof CaseWhen choice) {
            chosen(choice, kind, isMasked);
        } else {
            boolean hides = isMasked || node instanceof Count || HASHES.contains(node.getClass().getSimpleName());
            for (Expression child : list(node.children())) {
                add(child, kind.or(SourceKind.TRANSFORMATION), hides);
            }
        }
    }

    private void chosen(CaseWhen node, SourceKind kind, boolean isMasked) {
        for (Tuple2<Expression, Expression> branch : list(node.branches())) {
            add(branch._1(), kind.or(SourceKind.CONDITIONAL), isMasked);
            add(branch._2(), kind.or(SourceKind.TRANSFORMATION), isMasked);
        }
        if (node.elseValue().isDefined()) {
            add(node.elseValue().get(), kind.or(SourceKind.TRANSFORMATION), isMasked);
        }
    }

    private void subquery(LogicalPlan plan, SourceKind kind, boolean isMasked) {
        plans.visit(plan);
        for (Attribute column : list(plan.output())) {
            attribute(column, kind, isMasked);
        }
    }

    private void attribute(Attribute attribute, SourceKind kind, boolean isMasked) {
        for (SourceColumn source : sources.of(attribute)) {
            sources.add(found, new SourceColumn(
                source.table(), source.column(), source.kind().or(kind), isMasked || source.isMasked()));
        }
    }
}
