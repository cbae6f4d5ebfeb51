package sluice.trials;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.RoundingMode;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;

/** Turns recorded ranges of values into Iceberg's expressions. What does not fit the table as it is now says nothing. */
final class RangeExpressions {

    private RangeExpressions() {}

    /** Takes a list of `{"column": …, "ranges": [[lower, upper], …]}`; a bound that is null is open. */
    static Expression of(JsonNode scan, Schema schema) {
        Expression all = Expressions.alwaysTrue();
        for (JsonNode predicate : scan) {
            Types.NestedField field = schema.findField(predicate.get("column").asText());
            if (field != null && field.type().isPrimitiveType()) {
                all = Expressions.and(all, any(field, schema, predicate.get("ranges")));
            }
        }
        return all;
    }

    private static Expression any(Types.NestedField field, Schema schema, JsonNode ranges) {
        String name = schema.findColumnName(field.fieldId());
        Expression found = Expressions.alwaysFalse();
        for (JsonNode range : ranges) {
            Object lower = value(field.type(), range.get(0), RoundingMode.CEILING);
            Object upper = value(field.type(), range.get(1), RoundingMode.FLOOR);
            boolean isKnown = (lower != null || range.get(0).isNull()) && (upper != null || range.get(1).isNull());
            if (!isKnown) {
                return Expressions.alwaysTrue();
            }
            found = Expressions.or(found, within(name, lower, upper));
        }
        return found;
    }

    private static Expression within(String name, Object lower, Object upper) {
        if (lower != null && lower.equals(upper)) {
            return Expressions.equal(name, lower);
        }
        return Expressions.and(
            lower == null ? Expressions.notNull(name) : Expressions.greaterThanOrEqual(name, lower),
            upper == null ? Expressions.alwaysTrue() : Expressions.lessThanOrEqual(name, upper));
    }

    /** Returns the value as one of the type; null if it is none. */
    private static Object value(Type type, JsonNode node, RoundingMode rounding) {
        try {
            return switch (type.typeId()) {
                case INTEGER, LONG -> node.isIntegralNumber() ? node.longValue() : null;
                case DATE -> node.isIntegralNumber() ? Math.toIntExact(node.longValue()) : null;
                case TIMESTAMP -> node.isIntegralNumber() ? node.longValue() : null;
                case FLOAT, DOUBLE -> node.isNumber() ? node.doubleValue() : null;
                case STRING -> node.isTextual() ? node.textValue() : null;
                case DECIMAL -> node.isNull()
                    ? null
                    : new BigDecimal(node.asText()).setScale(((Types.DecimalType) type).scale(), rounding);
                default -> null;
            };
        } catch (ArithmeticException | NumberFormatException failure) {
            return null;
        }
    }
}
