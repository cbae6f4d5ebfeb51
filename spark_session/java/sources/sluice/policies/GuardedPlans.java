package sluice.policies;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.NullType$;
import scala.Option;

/** Makes the plans that stand in the place of guarded tables and views. */
final class GuardedPlans {

    private GuardedPlans() {}

    /** Returns the filter and masks over a new instance, which shows the columns of the table or view. */
    static LogicalPlan guard(
            SparkSession spark, LogicalPlan table, LogicalPlan fresh, Restriction restriction, boolean canFail) {
        LogicalPlan rows = restriction.rowFilter() == null ? fresh : new Filter(restriction.rowFilter(), fresh);
        List<Attribute> output = list(table.output());
        Iterator<Attribute> renewed = list(fresh.output()).iterator();
        List<NamedExpression> columns = new ArrayList<>();
        for (Attribute shown : output) {
            Attribute own = renewed.next();
            Expression mask = restriction.masks().get(shown.name().toLowerCase(Locale.ROOT));
            columns.add(named(mask == null ? own : mask, shown));
        }
        LogicalPlan plan = new Project(seq(columns), rows);
        Project masked = withTypes((Project) Dataset$.MODULE$.ofRows(spark, plan).queryExecution().analyzed(), output);
        boolean isApart = restriction.rowFilter() != null && (canFail || hasFailingMask(masked));
        return isApart ? new Project(masked.projectList(), apart(masked.child())) : masked;
    }

    /**
     * Keeps each expression of the query above the filters below, so that it never sees a row that they leave out.
     *
     * <p>Spark moves no condition below a filter whose condition is not deterministic, and merges no filter with it.
     * This one is true for every row. A row filter stays below it, where the source gets it.
     */
    static LogicalPlan apart(LogicalPlan rows) {
        Expression always = new GreaterThanOrEqual(new SparkPartitionID(), Literal$.MODULE$.apply(0));
        return new Filter(always, rows);
    }

    /**
     * Returns a view with new columns. A view makes its columns itself, by a projection on top of its text; one of the
     * session catalog does so below a node of its own.
     */
    static LogicalPlan renewedView(LogicalPlan view) {
        LogicalPlan below = ((UnaryNode) view).child();
        LogicalPlan fresh = below instanceof View ? renewedView(below) : renewed((Project) below);
        return view.withNewChildren(seq(List.of(fresh)));
    }

    private static Project renewed(Project columns) {
        List<NamedExpression> renewed = new ArrayList<>();
        for (NamedExpression each : list(columns.projectList())) {
            Alias column = (Alias) each;
            renewed.add(new Alias(
                column.child(),
                column.name(),
                NamedExpression$.MODULE$.newExprId(),
                column.qualifier(),
                column.explicitMetadata(),
                column.nonInheritableMetadataKeys()));
        }
        return new Project(seq(renewed), columns.child());
    }

    private static boolean hasFailingMask(Project masked) {
        return list(masked.projectList()).stream().anyMatch(mask -> FailingExpressions.canFail((Expression) mask));
    }

    private static Alias named(Expression value, Attribute shown) {
        return new Alias(
            value, shown.name(), shown.exprId(), shown.qualifier(), Option.apply(shown.metadata()), seq(List.of()));
    }

    /** Masks keep their columns' types; NULL takes any. */
    private static Project withTypes(Project project, List<Attribute> output) {
        Iterator<NamedExpression> masks = list(project.projectList()).iterator();
        List<NamedExpression> columns = new ArrayList<>();
        for (Attribute shown : output) {
            columns.add(withType((Alias) masks.next(), shown));
        }
        return new Project(seq(columns), project.child());
    }

    private static Alias withType(Alias masked, Attribute shown) {
        DataType type = shown.dataType();
        DataType given = masked.child().dataType();
        if (given == NullType$.MODULE$) {
            return named(new Cast(masked.child(), type, Option.empty(), Cast.apply$default$4()), shown);
        }
        if (DataType.equalsIgnoreNullability(given, type)) {
            return masked;
        }
        throw new IllegalStateException(
            "The mask of the column " + shown.name() + " is a " + given.sql() + ", and the column is a "
            + type.sql() + ".");
    }
}
