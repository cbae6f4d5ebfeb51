package sluice.statements;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;
import static sluice.fixtures.Plans.named;
import static sluice.fixtures.Plans.project;
import static sluice.fixtures.Plans.rows;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Concat;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Length;
import org.apache.spark.sql.catalyst.expressions.StringRepeat;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.collection.immutable.Seq;

final class ColumnGrowthTest {

    private static final double COLUMN_BYTES = 64;

    private final Attribute text = column("s", DataTypes.StringType);
    private final Attribute number = column("n", DataTypes.IntegerType);
    private final LogicalPlan table = rows(List.of(text));

    @ParameterizedTest
    @CsvSource({"1, 2", "3, 8", "30, 1073741824"})
    void eachStepOfADoublingDoubles(int steps, double expected) {
        LogicalPlan plan = table;
        Attribute last = text;
        for (int i = 0; i < steps; i++) {
            Alias twice = named("s", concat(last, last));
            plan = project(plan, twice);
            last = twice.toAttribute();
        }
        assertEquals(expected, uses(plan));
        assertEquals(expected * COLUMN_BYTES, bytes(plan));
    }

    @Test
    void aSizeHasABound() {
        LogicalPlan plan = table;
        Attribute last = text;
        for (int i = 0; i < 100; i++) {
            Alias twice = named("s", concat(last, last));
            plan = project(plan, twice);
            last = twice.toAttribute();
        }
        assertEquals(1e18, uses(plan));
    }

    @Test
    void aChoiceIsAsLargeAsItsLargestPart() {
        Expression choice = new If(literal(true), concat(text, text), text);
        assertEquals(2 * COLUMN_BYTES, bytes(project(table, named("c", choice))));
    }

    @Test
    void aRepeatedTextGrowsByTheLargestNumberOfItsRows() {
        LogicalPlan counted = rows(
            List.of(text, number), InternalRow.fromSeq(row("a", 5)), InternalRow.fromSeq(row("b", 900)));
        LogicalPlan plan = project(counted, named("r", new StringRepeat(text, number)));
        assertEquals(900 * COLUMN_BYTES, bytes(plan));
        LogicalPlan unknown = project(table, named("r", new StringRepeat(text, column("n", DataTypes.IntegerType))));
        assertEquals(COLUMN_BYTES, bytes(unknown));
    }

    @Test
    void aNumberHasAFixedSize() {
        LogicalPlan plan = project(table, named("l", new Length(text)));
        assertEquals(COLUMN_BYTES, bytes(plan));
    }

    @Test
    void aUnionIsAsLargeAsItsLargestBranch() {
        Alias twice = named("s", concat(text, text));
        LogicalPlan union = new Union(seq(List.of(project(table, text), project(table, twice))), false, false);
        Attribute output = list(union.output()).get(0);
        assertEquals(4 * COLUMN_BYTES, bytes(project(union, named("u", concat(output, output)))));
    }

    private static Seq<Object> row(String text, int number) {
        return seq(List.of(UTF8String.fromString(text), number));
    }

    private static Expression concat(Expression... parts) {
        return new Concat(seq(List.of(parts)));
    }

    private static double uses(LogicalPlan plan) {
        return new ColumnGrowth(false).largestIn(plan);
    }

    private static double bytes(LogicalPlan plan) {
        return new ColumnGrowth(true).largestIn(plan);
    }
}
