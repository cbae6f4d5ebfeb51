package sluice.relations;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;
import static sluice.collections.Partial.where;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import scala.collection.immutable.Seq;

/**
 * Filters and projects rows in memory while a query is planned, as Spark's `ConvertToLocalRelation` does, and keeps
 * the rows for the next query.
 *
 * <p>Spark copies the rows for each query: 45,000 rows in TPC-DS's q7. The copies are also new to each query, so
 * nothing that was made of them could be kept. Spark's own rule must be off where this one is on.
 */
public final class FoldRelations extends Rule<LogicalPlan> {

    /** Whether this rule takes the place of Spark's own. */
    public static final String SWITCH = "spark.sluice.foldsRelations";

    private final RelationCache cache;

    public FoldRelations(RelationCache cache) {
        this.cache = cache;
    }

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        return "true".equals(conf().getConfString(SWITCH, "false")) ? folded(plan) : plan;
    }

    LogicalPlan folded(LogicalPlan plan) {
        LogicalPlan found = plan.mapChildren(this::folded);
        if (found instanceof Filter filter && filter.child() instanceof LocalRelation rows) {
            return folded(filter, rows, List.of(filter.condition()));
        }
        if (found instanceof Project project && project.child() instanceof LocalRelation rows) {
            List<Expression> columns = new ArrayList<>();
            list(project.projectList()).forEach(column -> columns.add((Expression) column));
            return folded(project, rows, columns);
        }
        boolean isLimit = found instanceof GlobalLimit limit
            && limit.child() instanceof LocalLimit local
            && local.child() instanceof LocalRelation;
        return isLimit ? ConvertToLocalRelation$.MODULE$.apply(found) : found;
    }

    /** Spark's own rule decides what can be evaluated now, and evaluates it. */
    private LogicalPlan folded(LogicalPlan operator, LocalRelation rows, List<Expression> by) {
        KnownRows known = cache.of(rows.data());
        boolean isRepeatable = by.stream().allMatch(Expression::deterministic)
            && by.stream().noneMatch(ConvertToLocalRelation$.MODULE$::hasUnevaluableExpr);
        if (known == null || !isRepeatable) {
            return ConvertToLocalRelation$.MODULE$.apply(operator);
        }
        List<Object> key = new ArrayList<>();
        key.add(operator.getClass());
        by.forEach(each -> key.add(comparable(each, list(rows.output()))));
        Seq<InternalRow> made = cache.derived(known, key, () -> rowsOf(ConvertToLocalRelation$.MODULE$.apply(operator)));
        if (made == null) {
            return operator;
        }
        List<Attribute> columns = new ArrayList<>();
        list(operator.output()).forEach(columns::add);
        return new LocalRelation(seq(columns), made, rows.isStreaming(), rows.stream());
    }

    /** Returns the expression with places instead of columns, whose numbers differ from query to query. */
    private static Expression comparable(Expression expression, List<Attribute> columns) {
        Expression value = expression instanceof Alias alias ? alias.child() : expression;
        return value.transform(where(Attribute.class::isInstance, found -> {
            Attribute column = (Attribute) found;
            int place = IntStream.range(0, columns.size())
                .filter(at -> columns.get(at).exprId().equals(column.exprId()))
                .findFirst()
                .orElseThrow();
            return new BoundReference(place, column.dataType(), column.nullable());
        })).canonicalized();
    }

    /** Returns rows that are equal to no others' by their places in memory; null if the operator is still there. */
    private static List<InternalRow> rowsOf(LogicalPlan made) {
        if (!(made instanceof LocalRelation relation)) {
            return null;
        }
        UnsafeProjection projection = UnsafeProjection$.MODULE$.create(relation.schema());
        List<InternalRow> rows = new ArrayList<>();
        for (InternalRow row : iterable(relation.data())) {
            rows.add(projection.apply(row).copy());
        }
        return rows;
    }
}
