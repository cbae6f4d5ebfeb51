package sluice.policies;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;
import static sluice.fixtures.Plans.named;
import static sluice.fixtures.Plans.project;
import static sluice.fixtures.Plans.rows;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Divide;
import org.apache.spark.sql.catalyst.expressions.Exists;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.Upper;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.Option;

final class FailingExpressionsTest {

    private final Attribute text = column("s", DataTypes.StringType);
    private final Attribute number = column("n", DataTypes.IntegerType);
    private final Attribute fraction = column("d", DataTypes.DoubleType);
    private final LogicalPlan table = rows(List.of(text, number, fraction));
    private final Expression failing = new GreaterThan(new Divide(fraction, fraction), literal(1.0));

    @Test
    void comparisonsAndTextsCannotFail() {
        assertFalse(FailingExpressions.canFail(
            new And(new GreaterThan(number, literal(1)), new GreaterThan(new Upper(text), literal("a")))));
    }

    @Test
    void integersOverflowAndFractionsDoNot() {
        assertTrue(FailingExpressions.canFail(new Add(number, number)));
        assertFalse(FailingExpressions.canFail(new Add(fraction, fraction)));
        assertTrue(FailingExpressions.canFail(failing));
    }

    @Test
    void anExpressionWithoutColumnsFailsForAllRowsOrNone() {
        assertFalse(FailingExpressions.canFail(new Add(literal(1), literal(2))));
    }

    @Test
    void aCastFailsWhereItLosesValues() {
        assertFalse(canFail(number, DataTypes.LongType));
        assertTrue(canFail(text, DataTypes.IntegerType));
        assertFalse(canFail(text, DataTypes.BinaryType));
        assertTrue(canFail(column("t", DataTypes.DateType), DataTypes.TimestampType));
    }

    @Test
    void aPatternFailsUnlessTheQueryHasIt() {
        assertFalse(FailingExpressions.canFail(new Like(text, literal("a%"), '\\')));
        assertTrue(FailingExpressions.canFail(new Like(text, text, '\\')));
    }

    @Test
    void onlyConditionsCount() {
        LogicalPlan selected = project(table, named("x", failing));
        assertFalse(FailingExpressions.isAnyIn(selected));
        assertTrue(FailingExpressions.isAnyIn(new Filter(failing, table)));
        assertTrue(FailingExpressions.isAnyIn(new Filter(new GreaterThan(number, literal(1)), selected)));
    }

    @Test
    void conditionsOfQueriesInExpressionsCount() {
        Expression exists = exists(new Filter(failing, table));
        assertTrue(FailingExpressions.isAnyIn(project(table, named("e", exists))));
        assertTrue(FailingExpressions.canFail(exists));
        assertFalse(FailingExpressions.isAnyIn(project(table, named("e", exists(table)))));
    }

    @Test
    void aggregatesAreNoConditions() {
        LogicalPlan grouped = new Aggregate(seq(List.of(number)), seq(List.of(number)), table, Option.empty());
        assertEquals(false, FailingExpressions.isAnyIn(grouped));
    }

    private static boolean canFail(Expression value, DataType type) {
        return FailingExpressions.canFail(new Cast(value, type, Option.empty(), Cast.apply$default$4()));
    }

    private static Expression exists(LogicalPlan plan) {
        return new Exists(
            plan, seq(List.of()), NamedExpression$.MODULE$.newExprId(), seq(List.of()), Option.empty());
    }
}
