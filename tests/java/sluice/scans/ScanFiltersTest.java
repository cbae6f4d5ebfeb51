package sluice.scans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

final class ScanFiltersTest {

    /** Has its filters in fields of the same names as Iceberg's scans. */
    private record Filtered(List<Expression> filters, List<Expression> runtimeFilters) implements Scan {
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

    @Test
    void filtersOfThePlanComeBeforeThoseOfTheRun() throws Exception {
        Filtered scan = new Filtered(
            List.of(Expressions.and(Expressions.notNull("id"), Expressions.lessThan("id", 5L))),
            List.of(Expressions.in("day", 7, 9)));
        List<String> found = ScanFilters.of(scan);
        assertEquals(2, found.size());
        assertTrue(found.get(0).contains("\"type\":\"lt\",\"term\":\"id\",\"value\":5"), found.get(0));
        assertTrue(found.get(1).contains("\"type\":\"in\",\"term\":\"day\",\"values\":[7,9]"), found.get(1));
    }

    @Test
    void aVeryLongFilterIsNotWrittenDown() throws Exception {
        List<Integer> keys = IntStream.range(1_000_000, 1_020_000).boxed().toList();
        List<String> found = ScanFilters.of(new Filtered(List.of(Expressions.in("id", keys)), List.of()));
        assertEquals(1, found.size());
        assertNull(found.get(0));
    }

    @Test
    void scansOfOtherTablesHaveNone() throws Exception {
        assertEquals(List.of(), ScanFilters.of(new Other()));
    }
}
