package sluice.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;
import static sluice.fixtures.Plans.named;
import static sluice.fixtures.Plans.project;
import static sluice.fixtures.Plans.rows;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeMap$;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Explode;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.expressions.ScalarSubquery;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.math.BigInt;

final class SmallQueriesTest {

    private static final double UNKNOWN = Double.POSITIVE_INFINITY;

    private final Range numbers = range(1000);
    private final Range others = range(500);

    @Test
    void aPlanReadsWhatItsSourcesHave() {
        assertEquals(8000, SmallQueries.bytesOf(numbers));
        assertEquals(12_000, SmallQueries.bytesOf(joined(new EqualTo(first(numbers), first(others)))));
    }

    @Test
    void aSubqueryIsReadToo() {
        assertEquals(12_000, SmallQueries.bytesOf(project(numbers, named("q", subquery(others)))));
    }

    @Test
    void subqueriesAreReadAtEveryDepth() {
        LogicalPlan inner = project(others, named("n", subquery(range(300))));
        LogicalPlan plan = project(project(numbers, named("q", subquery(inner))), named("x", literal(1)));
        assertEquals(8000 + 4000 + 2400, SmallQueries.bytesOf(plan));
        LogicalPlan many = joined(new GreaterThan(first(numbers), first(others)));
        LogicalPlan below = project(project(numbers, named("q", subquery(many))), named("x", literal(1)));
        assertEquals(UNKNOWN, SmallQueries.bytesOf(below));
    }

    @Test
    void rowsWithoutColumnsAreReadToo() {
        Statistics noColumns = new Statistics(
            BigInt.apply(0), Option.apply(BigInt.apply(1000)), AttributeMap$.MODULE$.empty(), false);
        LogicalPlan rows = new LogicalRDD(
            seq(List.of()), null, null, seq(List.of()), false, Option.empty(), null,
            Option.apply(noColumns), Option.empty());
        assertEquals(8000, SmallQueries.bytesOf(rows));
    }

    @Test
    void aJoinWithoutEqualKeysMayMakeManyRows() {
        assertEquals(UNKNOWN, SmallQueries.bytesOf(joined(new GreaterThan(first(numbers), first(others)))));
        LogicalPlan one = rows(List.of(column("x", DataTypes.LongType)));
        LogicalPlan withOne = new Join(numbers, one, Inner$.MODULE$, Option.empty(), JoinHint.NONE());
        assertEquals(8000 + one.stats().sizeInBytes().doubleValue(), SmallQueries.bytesOf(withOne));
    }

    @Test
    void rowsOfArraysMayBeMany() {
        Expression array = literal(new Integer[] {1, 2});
        LogicalPlan plan = new Generate(
            new Explode(array), seq(List.of()), false, Option.empty(), seq(List.of()), numbers);
        assertEquals(UNKNOWN, SmallQueries.bytesOf(plan));
        assertEquals(UNKNOWN, SmallQueries.bytesOf(project(plan, named("x", literal(1)))));
    }

    @Test
    void copiesOfRowsCount() {
        List<Seq<Expression>> projections = List.of(seq(List.of()), seq(List.of()), seq(List.of()));
        LogicalPlan plan = new Expand(seq(projections), seq(List.of()), numbers);
        assertEquals(24_000, SmallQueries.bytesOf(plan));
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 1", "1048576, 1", "1048577, 2", "3000000, 3", "900000000, 4"})
    void aShuffleHasAPartitionForEachMebibyteUpToTheTasksThatRunAtATime(double bytes, int expected) {
        assertEquals(expected, SmallQueries.partitions(bytes, 4, 8));
    }

    @Test
    void aSessionThatAsksForFewerPartitionsGetsThem() {
        assertEquals(2, SmallQueries.partitions(9e8, 4, 2));
    }

    private LogicalPlan joined(Expression condition) {
        return new Join(numbers, others, Inner$.MODULE$, Option.apply(condition), JoinHint.NONE());
    }

    private static Expression subquery(LogicalPlan plan) {
        return new ScalarSubquery(
            plan,
            seq(List.of()),
            NamedExpression$.MODULE$.newExprId(),
            seq(List.of()),
            Option.empty(),
            Option.empty(),
            Option.empty());
    }

    private static Range range(long end) {
        return new Range(0, end, 1, Option.apply(3), seq(List.of(column("n", DataTypes.LongType))), false);
    }

    private static Attribute first(LogicalPlan plan) {
        return list(plan.output()).get(0);
    }
}
