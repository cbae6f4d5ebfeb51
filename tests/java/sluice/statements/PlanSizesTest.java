package sluice.statements;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.named;
import static sluice.fixtures.Plans.project;
import static sluice.fixtures.Plans.rows;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.Option;

final class PlanSizesTest {

    private static final String GROWTH = "[\"uses\",1.0],[\"bytes\",64.0]";

    private final Attribute number = column("n", DataTypes.LongType);
    private final LogicalPlan table = rows(List.of(number));

    @Test
    void aPlanWithoutPartsOfItsOwnHasItsGrowthAlone() throws Exception {
        assertEquals("[" + GROWTH + "]", analyzed(table));
    }

    @Test
    void partitionsThatTheTextNamesAreCounted() throws Exception {
        LogicalPlan twice = new Repartition(4, false, new Repartition(200, true, table));
        assertEquals("[[\"COALESCE\",4.0],[\"REPARTITION\",200.0]," + GROWTH + "]", analyzed(twice));
        LogicalPlan byColumn = new RepartitionByExpression(
            seq(List.of(number)), table, Option.apply(7), Option.empty());
        assertEquals("[[\"REPARTITION\",7.0]," + GROWTH + "]", analyzed(byColumn));
        LogicalPlan open = new RepartitionByExpression(seq(List.of(number)), table, Option.empty(), Option.empty());
        assertEquals("[" + GROWTH + "]", analyzed(open));
    }

    @Test
    void slicesOfARangeAndCopiesOfRowsAreCounted() throws Exception {
        Range range = new Range(0, 10, 1, Option.apply(3), seq(List.of(number)), false);
        LogicalPlan copies = new Expand(
            seq(List.of(seq(List.of(number)), seq(List.of(number)))), seq(List.of(number)), range);
        assertEquals("[[\"copies\",2.0],[\"range\",3.0]," + GROWTH + "]", analyzed(copies));
    }

    @Test
    void queriesInExpressionsAreCounted() throws Exception {
        LogicalPlan inner = new Repartition(9, true, table);
        Expression query = new ScalarSubquery(
            inner,
            seq(List.of()),
            NamedExpression$.MODULE$.newExprId(),
            seq(List.of()),
            Option.empty(),
            Option.empty(),
            Option.empty());
        LogicalPlan plan = project(table, named("q", query));
        String counted = "[\"REPARTITION\",9.0],";
        // It is among the node's inner plans, too.
        assertEquals("[" + counted + counted + GROWTH + "]", analyzed(plan));
    }

    private static String analyzed(LogicalPlan plan) throws Exception {
        return PlanSizes.analyzed(plan);
    }
}
