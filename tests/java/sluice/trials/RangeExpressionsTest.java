package sluice.trials;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.math.BigDecimal;
import org.apache.iceberg.Schema;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.expressions.Evaluator;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.Test;

final class RangeExpressionsTest {

    private static final Schema SCHEMA = new Schema(
        NestedField.optional(1, "id", Types.IntegerType.get()),
        NestedField.optional(2, "day", Types.DateType.get()),
        NestedField.optional(3, "at", Types.TimestampType.withZone()),
        NestedField.optional(4, "price", Types.DecimalType.of(7, 2)),
        NestedField.optional(5, "city", Types.StringType.get()),
        NestedField.optional(6, "part", Types.DoubleType.get()));

    @Test
    void rangesHoldTheirEnds() throws Exception {
        String ranges = "[{'column': 'id', 'ranges': [[1, 3], [7, 7]]}]";
        assertEquals("0 1 1 0 1 0", holds(ranges, "id", 0, 1, 3, 4, 7, 8));
    }

    @Test
    void openRangesHoldNoNull() throws Exception {
        assertEquals("1 1 0", holds("[{'column': 'id', 'ranges': [[null, 3]]}]", "id", -9, 3, 4));
        assertEquals("0 1", holds("[{'column': 'id', 'ranges': [[3, null]]}]", "id", 2, 99));
        assertEquals("0", holds("[{'column': 'id', 'ranges': [[3, null]]}]", "id", new Object[] {null}));
    }

    @Test
    void noRangeHoldsNothing() throws Exception {
        assertEquals("0 0", holds("[{'column': 'id', 'ranges': []}]", "id", 0, 1));
    }

    @Test
    void numbersAreDaysAndMicroseconds() throws Exception {
        assertEquals("0 1 0", holds("[{'column': 'day', 'ranges': [[-1, 5]]}]", "day", -2, 5, 6));
        assertEquals("0 1 1", holds("[{'column': 'at', 'ranges': [[7, 5000000000000000]]}]", "at", 6L, 7L, 8L));
    }

    @Test
    void aNumberBeyondTheTypeIsABound() throws Exception {
        assertEquals("1", holds("[{'column': 'id', 'ranges': [[-9000000000, 9000000000]]}]", "id", 5));
    }

    @Test
    void decimalsAreNumbers() throws Exception {
        String ranges = "[{'column': 'price', 'ranges': [['9.001', '10']]}]";
        assertEquals("0 1 1 0", holds(ranges, "price", decimal("9.00"), decimal("9.01"), decimal("10.00"), decimal("10.01")));
        assertEquals("0", holds("[{'column': 'price', 'ranges': [['9.001', '9.001']]}]", "price", decimal("9.00")));
    }

    @Test
    void textsAndFractionsAreCompared() throws Exception {
        assertEquals("0 1 0", holds("[{'column': 'city', 'ranges': [['b', 'bz']]}]", "city", "a", "bb", "c"));
        assertEquals("0 1", holds("[{'column': 'part', 'ranges': [[0.5, 1]]}]", "part", 0.4, 0.5));
    }

    @Test
    void whatDoesNotFitTheTableSaysNothing() throws Exception {
        assertEquals("1", holds("[{'column': 'gone', 'ranges': [[1, 2]]}]", "id", 5));
        assertEquals("1", holds("[{'column': 'id', 'ranges': [['a', 'b']]}]", "id", 5));
        assertEquals("1", holds("[]", "id", 5));
    }

    @Test
    void allColumnsHold() throws Exception {
        String ranges = "[{'column': 'id', 'ranges': [[1, 3]]}, {'column': 'day', 'ranges': [[1, 1]]}]";
        assertEquals("0", holds(ranges, "id", 2));
    }

    /** Returns 1 for each value of the column with which a row holds, all other columns NULL. */
    private static String holds(String scan, String column, Object... values) throws Exception {
        Expression found = RangeExpressions.of(new ObjectMapper().readTree(scan.replace('\'', '"')), SCHEMA);
        Evaluator evaluator = new Evaluator(SCHEMA.asStruct(), found);
        StringBuilder text = new StringBuilder();
        for (Object value : values) {
            GenericRecord row = GenericRecord.create(SCHEMA);
            row.setField(column, value);
            text.append(text.isEmpty() ? "" : " ").append(evaluator.eval(row) ? 1 : 0);
        }
        return text.toString();
    }

    private static BigDecimal decimal(String text) {
        return new BigDecimal(text);
    }
}
