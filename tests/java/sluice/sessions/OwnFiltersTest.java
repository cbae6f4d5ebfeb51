package sluice.sessions;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;
import static sluice.fixtures.Plans.rows;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.collection.immutable.Set$;
import scala.jdk.javaapi.CollectionConverters;

final class OwnFiltersTest {

    private final Attribute key = column("k", DataTypes.LongType);

    @Test
    void listsThatHoldNullAreOurs() {
        assertFalse(hasOthers(list(1L, null)));
        assertFalse(hasOthers(setOf(1L, 2L, null)));
        assertFalse(hasOthers(new And(list(1L, null), list(2L, null))));
        assertFalse(hasOthers(new Or(list(1L, null), new And(list(2L, null), setOf(3L, null)))));
    }

    @Test
    void allOtherConditionsThatLeaveOutRowsAreOfTheQuery() {
        assertTrue(hasOthers(list(1L, 2L)));
        assertTrue(hasOthers(setOf(1L, 2L)));
        assertTrue(hasOthers(new EqualTo(key, literal(1L))));
        assertTrue(hasOthers(new And(list(1L, null), new EqualTo(key, literal(1L)))));
        assertTrue(hasOthers(new Or(list(1L, null), new EqualTo(key, literal(1L)))));
    }

    @Test
    void conditionsThatLeaveOutFewRowsAreNoReasonToPrune() {
        assertFalse(hasOthers(new IsNotNull(key)));
        assertFalse(OwnFilters.hasOthers(rows(List.of(key))));
    }

    private boolean hasOthers(Expression condition) {
        Filter inner = new Filter(condition, rows(List.of(key)));
        return OwnFilters.hasOthers(new Filter(new IsNotNull(key), inner));
    }

    private Expression list(Object... values) {
        return new In(key, seq(Stream.of(values).map(OwnFiltersTest::value).toList()));
    }

    private Expression setOf(Object... values) {
        return new InSet(key, Set$.MODULE$.from(CollectionConverters.asScala(Arrays.asList(values))));
    }

    private static Expression value(Object value) {
        return value == null
            ? Literal$.MODULE$.create(null, DataTypes.LongType)
            : literal(value);
    }
}
