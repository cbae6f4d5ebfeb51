package sluice.statements;

import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.util.IntervalUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * One literal of a call: {"n": 7} for numbers, {"s": "x", "b": 1} for strings and binaries with their bytes, {"d":
 * micros} for dates and timestamps, {"i": micros} for intervals, {} for others.
 */
final class LiteralReader {

    private static final int MAX_CHARACTERS = 200;
    private static final double MICROS_OF_DAY = 86400e6;
    // The shortest month: an interval is never longer than this, so a sequence is never shorter than estimated.
    private static final double DAYS_OF_MONTH = 28;

    private LiteralReader() {}

    /** Returns the text of a literal; null: the value is something else. */
    static String textOf(Expression value) {
        return value instanceof Literal literal && literal.value() instanceof UTF8String text ? text.toString() : null;
    }

    static Map<String, Object> read(Literal literal) {
        Map<String, Object> found = new LinkedHashMap<>();
        Object value = literal.value();
        if (value instanceof UTF8String text) {
            putText(found, text);
        } else if (value instanceof byte[] bytes) {
            found.put("b", bytes.length);
        } else if (value instanceof CalendarInterval interval) {
            found.put("i", micros(interval));
        } else if (value instanceof Decimal decimal) {
            found.put("n", decimal.toDouble());
        } else if (value instanceof Number number) {
            putNumber(found, literal.dataType(), number.doubleValue());
        }
        return found;
    }

    private static void putNumber(Map<String, Object> found, DataType type, double value) {
        if (type instanceof DateType) {
            found.put("d", value * MICROS_OF_DAY);
        } else if (type instanceof TimestampType || type instanceof TimestampNTZType) {
            found.put("d", value);
        } else if (type instanceof YearMonthIntervalType) {
            found.put("i", value * DAYS_OF_MONTH * MICROS_OF_DAY);
        } else if (type.typeName().startsWith("interval")) {
            found.put("i", value);
        } else if (Double.isFinite(value)) {
            found.put("n", value);
        }
    }

    private static void putText(Map<String, Object> found, UTF8String text) {
        found.put("b", text.numBytes());
        found.put("s", text.substring(0, MAX_CHARACTERS).toString());
        if (text.numBytes() <= MAX_CHARACTERS) {
            CalendarInterval interval = IntervalUtils.safeStringToInterval(text);
            if (interval != null) {
                found.put("i", micros(interval));
            }
        }
    }

    private static double micros(CalendarInterval interval) {
        return (interval.months * DAYS_OF_MONTH + interval.days) * MICROS_OF_DAY + interval.microseconds;
    }
}
