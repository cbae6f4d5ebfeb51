package sluice.relations;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreePattern$;
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
        boolean isWanted = "true".equals(conf().getConfString(SWITCH, "false"));
        return isWanted && hasRows(plan) ? folded(plan, RowSettings.of(conf())) : plan;
    }

    LogicalPlan folded(LogicalPlan plan, Map<String, String> settings) {
        LogicalPlan found = plan.mapChildren(child -> folded(child, settings));
        if (found instanceof Filter filter && filter.child() instanceof LocalRelation rows) {
            return folded(filter, rows, List.of(filter.condition()), settings);
        }
        if (found instanceof Project project && project.child() instanceof LocalRelation rows) {
            List<Expression> columns = new ArrayList<>();
            list(project.projectList()).forEach(column -> columns.add((Expression) column));
            return folded(project, rows, columns, settings);
        }
        boolean isLimit = found instanceof GlobalLimit limit
            && limit.child() instanceof LocalLimit local
            && local.child() instanceof LocalRelation;
        return isLimit ? ConvertToLocalRelation$.MODULE$.apply(found) : found;
    }

    /** Spark's own rule decides what can be evaluated now, and evaluates it. */
    private LogicalPlan folded(
            LogicalPlan operator, LocalRelation rows, List<Expression> by, Map<String, String> settings) {
        boolean isRepeatable = by.stream().allMatch(Expression::deterministic)
            && by.stream().noneMatch(ConvertToLocalRelation$.MODULE$::hasUnevaluableExpr);
        KnownRows known = isRepeatable ? cache.of(rows.data()) : null;
        List<Object> key = known == null ? null : RowKeys.keyOf(operator, by, rows);
        if (key == null) {
            return ConvertToLocalRelation$.MODULE$.apply(operator);
        }
        Seq<InternalRow> made = cache.derived(known, key, settings, () -> {
            LocalRelation few = operator instanceof Filter filter ? FewRows.of(filter, rows, known) : null;
            LogicalPlan found = few == null ? ConvertToLocalRelation$.MODULE$.apply(operator) : few;
            return found instanceof LocalRelation relation ? relation : null;
        });
        if (made == null) {
            return operator;
        }
        List<Attribute> columns = new ArrayList<>(list(operator.output()));
        return KnownRelation.of(seq(columns), made);
    }

    private static boolean hasRows(LogicalPlan plan) {
        return plan.containsPattern(TreePattern$.MODULE$.LOCAL_RELATION());
    }
}
