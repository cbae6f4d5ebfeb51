package sluice.relations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;
import static sluice.fixtures.Plans.named;
import static sluice.fixtures.Plans.project;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.Rand;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.collection.immutable.Seq;

final class FoldRelationsTest {

    private static final long ENOUGH = 1 << 20;
    private static final Map<String, String> SETTINGS = Map.of("spark.sql.session.timeZone", "UTC");

    private final RelationCache cache = new RelationCache();
    private final FoldRelations rule = new FoldRelations(cache);
    private final Attribute key = column("k", DataTypes.LongType);
    private final Attribute year = column("y", DataTypes.IntegerType);
    private Seq<InternalRow> rows;

    @BeforeEach
    void addRows() {
        cache.keepAtMost(ENOUGH);
        StructType type = new StructType().add("k", DataTypes.LongType).add("y", DataTypes.IntegerType);
        UnsafeProjection copied = UnsafeProjection$.MODULE$.create(type);
        List<InternalRow> all = new ArrayList<>();
        for (long at = 0; at < 10; at++) {
            all.add(copied.apply(InternalRow.fromSeq(seq(List.of((Object) at, (int) (at % 3))))).copy());
        }
        rows = cache.add(all);
    }

    @Test
    void aSecondQueryGetsTheRowsThatTheFirstHasFiltered() {
        LocalRelation first = folded(filter(relation(key, year), new EqualTo(year, literal(1))));
        Attribute otherYear = column("y", DataTypes.IntegerType);
        LocalRelation other = relation(column("k", DataTypes.LongType), otherYear);
        LocalRelation second = folded(filter(other, new EqualTo(otherYear, literal(1))));
        assertEquals(3, list(first.data()).size());
        assertSame(first.data(), second.data());
        assertEquals(list(other.output()), list(second.output()));
    }

    @Test
    void otherConditionsAreOtherRows() {
        LocalRelation one = folded(filter(relation(key, year), new EqualTo(year, literal(1))));
        LocalRelation two = folded(filter(relation(key, year), new EqualTo(year, literal(2))));
        LocalRelation more = folded(filter(relation(key, year), new GreaterThan(year, literal(1))));
        assertNotSame(one.data(), two.data());
        assertNotSame(two.data(), more.data());
        assertEquals(list(two.data()), list(more.data()));
    }

    @Test
    void columnsAreFoundByTheirPlaces() {
        LocalRelation first = folded(project(relation(key, year), named("a", new Add(key, literal(1L)))));
        LocalRelation same = folded(project(relation(key, year), named("b", new Add(key, literal(1L)))));
        LocalRelation other = folded(project(relation(year, key), named("a", new Add(key, literal(1L)))));
        assertSame(first.data(), same.data());
        assertEquals("b", list(same.output()).get(0).name());
        assertNotSame(first.data(), other.data());
    }

    @Test
    void whatDiffersEachTimeIsNotKept() {
        LogicalPlan plan = filter(relation(key, year), new GreaterThan(new Rand(literal(1L), false), literal(0.5)));
        assertNotSame(folded(plan).data(), folded(plan).data());
        assertEquals(0, entries());
    }

    @Test
    void rowsThatAreNotKnownAreFoldedBySpark() {
        rows = seq(list(rows).stream().map(InternalRow::copy).toList());
        LogicalPlan plan = filter(relation(key, year), new EqualTo(year, literal(1)));
        assertEquals(3, list(folded(plan).data()).size());
        assertEquals(0, entries());
    }

    @Test
    void aCopyOfTheSequenceHasTheSameRows() {
        LogicalPlan plan = filter(relation(key, year), new EqualTo(year, literal(1)));
        LocalRelation first = folded(plan);
        rows = seq(list(rows));
        assertSame(first.data(), folded(filter(relation(key, year), new EqualTo(year, literal(1)))).data());
        rows = seq(list(rows).subList(0, 5));
        LocalRelation fewer = folded(filter(relation(key, year), new EqualTo(year, literal(1))));
        assertEquals(2, list(fewer.data()).size());
    }

    @Test
    void rowsThatAreTooLargeAreMadeAgain() {
        cache.keepAtMost(1);
        LogicalPlan plan = filter(relation(key, year), new EqualTo(year, literal(1)));
        assertEquals(3, list(folded(plan).data()).size());
        assertEquals(0, entries());
    }

    @Test
    void otherSettingsMayMakeOtherRows() {
        LogicalPlan plan = filter(relation(key, year), new EqualTo(year, literal(1)));
        LocalRelation first = folded(plan);
        assertSame(first.data(), folded(plan, Map.copyOf(SETTINGS)).data());
        assertNotSame(first.data(), folded(plan, Map.of("spark.sql.session.timeZone", "CET")).data());
    }

    @Test
    void sumsInAnotherOrderAreNotTheSame() {
        Expression left = new Add(new Add(key, literal(1L)), literal(2L));
        Expression right = new Add(key, new Add(literal(1L), literal(2L)));
        LocalRelation first = folded(project(relation(key, year), named("a", left)));
        assertNotSame(first.data(), folded(project(relation(key, year), named("a", right))).data());
    }

    @Test
    void aFilterThatKeepsAllRowsMakesNoOthers() {
        LocalRelation all = folded(filter(relation(key, year), new GreaterThan(key, literal(-1L))));
        assertSame(list(rows).get(0), list(all.data()).get(0));
        assertEquals(1, entries());
        assertEquals(10, list(folded(filter(all, new GreaterThan(key, literal(-1L)))).data()).size());
        assertEquals(1, entries());
    }

    @Test
    void noRowsAreKeptAsWell() {
        LogicalPlan plan = filter(relation(key, year), new GreaterThan(key, literal(100L)));
        assertEquals(0, list(folded(plan).data()).size());
        assertEquals(0, list(folded(plan).data()).size());
        assertEquals(List.of("1", "1"), List.of(cache.use().split(" ")).subList(2, 4));
    }

    private int entries() {
        return Integer.parseInt(cache.use().split(" ")[0]);
    }

    private static LogicalPlan filter(LogicalPlan plan, Expression condition) {
        return new Filter(condition, plan);
    }

    private LocalRelation relation(Attribute... columns) {
        return new LocalRelation(seq(List.of(columns)), rows, false, Option.empty());
    }

    private LocalRelation folded(LogicalPlan plan) {
        return folded(plan, SETTINGS);
    }

    private LocalRelation folded(LogicalPlan plan, Map<String, String> settings) {
        return (LocalRelation) rule.folded(plan, settings);
    }
}
