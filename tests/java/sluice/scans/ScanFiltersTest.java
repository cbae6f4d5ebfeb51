package sluice.scans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.types.Types;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

final class ScanFiltersTest {

    private static final Schema SCHEMA = new Schema(
        Types.NestedField.optional(1, "id", Types.LongType.get()),
        Types.NestedField.optional(2, "day", Types.IntegerType.get()),
        Types.NestedField.optional(3, "price", Types.DecimalType.of(9, 2)),
        Types.NestedField.optional(4, "cost", Types.DecimalType.of(9, 2)));

    /** Has its filters in fields of the same names as Iceberg's scans. */
    private record Filtered(Schema schema, List<?> filters, List<Expression> runtimeFilters) implements Scan {
        @Override
        public StructType readSchema() {
            return new StructType();
        }
    }

    /** A scan of something else than an Iceberg table. */
    private record Other() implements Scan {
        @Override
        public StructType readSchema() {
            return new StructType();
        }
    }

    private static ScanFilters filtersOf(Object... filters) {
        return ScanFilters.of(new Filtered(SCHEMA, Arrays.asList(filters), List.of()));
    }

    @Test
    void filtersOfThePlanComeBeforeThoseOfTheRun() {
        Filtered scan = new Filtered(
            SCHEMA,
            List.of(Expressions.and(Expressions.notNull("id"), Expressions.lessThan("id", 5L))),
            List.of(Expressions.in("day", 7, 9)));
        List<String> found = ScanFilters.of(scan).texts();
        assertEquals(2, found.size());
        assertTrue(found.get(0).contains("\"type\":\"lt\",\"term\":\"id\",\"value\":5"), found.get(0));
        assertTrue(found.get(1).contains("\"type\":\"in\",\"term\":\"day\",\"values\":[7,9]"), found.get(1));
    }

    @Test
    void decimalsThatAreFilteredAreNamed() {
        ScanFilters found = filtersOf(Expressions.greaterThan("price", new BigDecimal("9.00")));
        assertTrue(found.texts().get(0).contains("\"value\":\"9.00\""), found.texts().get(0));
        assertEquals(List.of("price"), found.decimals());
    }

    @Test
    void aVeryLongFilterIsNotWrittenDown() {
        List<Integer> keys = IntStream.range(1_000_000, 1_020_000).boxed().toList();
        List<String> found = filtersOf(Expressions.in("id", keys), Expressions.equal("id", 1L)).texts();
        assertEquals(2, found.size());
        assertNull(found.get(0));
        assertTrue(found.get(1).contains("\"eq\""), found.get(1));
    }

    @Test
    void filtersOfAScanAreTogetherNotVeryLong() {
        List<Integer> keys = IntStream.range(1_000_000, 1_005_000).boxed().toList();
        Expression filter = Expressions.in("id", keys);
        List<String> found = filtersOf(filter, filter, filter).texts();
        assertEquals(1, found.stream().filter(text -> text != null).count());
    }

    @Test
    void filtersThatCannotBeWrittenDownAreNone() {
        Expression deep = Expressions.equal("id", 1L);
        for (int i = 0; i < 200_000; i++) {
            deep = Expressions.or(deep, Expressions.equal("day", i));
        }
        assertEquals(List.of(), filtersOf(deep).texts());
        assertEquals(List.of(), filtersOf("no expression").texts());
    }

    @Test
    void scansOfOtherTablesHaveNone() {
        assertEquals(List.of(), ScanFilters.of(new Other()).texts());
    }
}
