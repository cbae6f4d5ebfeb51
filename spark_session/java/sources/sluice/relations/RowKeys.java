package sluice.relations;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;
import static sluice.collections.Partial.where;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * What an operator does with rows, so that equal keys make the same rows of the same rows.
 *
 * <p>Expressions are compared as they are written. Spark's canonical forms would do for an exchange within a plan, but
 * they also put operands in another order, and `(a + b) + c` may be another double than `a + (b + c)`.
 */
final class RowKeys {

    /** The memory of a node of an expression, or of a value in a list, about. */
    private static final long NODE_BYTES = 128;

    private RowKeys() {}

    /** Returns the key of an operator over a relation; null if an expression has a column that is not there. */
    static List<Object> keyOf(LogicalPlan operator, List<Expression> by, LocalRelation rows) {
        List<Attribute> columns = list(rows.output());
        List<Object> key = new ArrayList<>();
        key.add(operator.getClass());
        columns.forEach(column -> key.add(column.dataType()));
        for (Expression expression : by) {
            Expression value = expression instanceof Alias alias ? alias.child() : expression;
            if (!iterable(value.references()).iterator().hasNext()) {
                key.add(value);
                continue;
            }
            Expression placed = placed(value, columns);
            if (iterable(placed.references()).iterator().hasNext()) {
                return null;
            }
            key.add(placed);
        }
        return List.copyOf(key);
    }

    /** Returns the memory that a key takes, about. */
    static long sizeOf(List<Object> key) {
        long bytes = 0;
        for (Object part : key) {
            bytes += part instanceof Expression expression ? sizeOf(expression) : NODE_BYTES;
        }
        return bytes;
    }

    /** Returns the expression with places instead of columns, whose numbers differ from query to query. */
    static Expression placed(Expression expression, List<Attribute> columns) {
        return expression.transform(where(Attribute.class::isInstance, found -> {
            Attribute column = (Attribute) found;
            OptionalInt place = IntStream.range(0, columns.size())
                .filter(at -> columns.get(at).exprId().equals(column.exprId()))
                .findFirst();
            return place.isEmpty()
                ? column
                : new BoundReference(place.getAsInt(), column.dataType(), column.nullable());
        }));
    }

    private static long sizeOf(Expression expression) {
        long bytes = NODE_BYTES;
        if (expression instanceof Literal literal) {
            bytes += sizeOf(literal.value());
        }
        if (expression instanceof InSet set) {
            for (Object value : iterable(set.hset())) {
                bytes += NODE_BYTES + sizeOf(value);
            }
        }
        for (Expression child : list(expression.children())) {
            bytes += sizeOf(child);
        }
        return bytes;
    }

    private static long sizeOf(Object value) {
        if (value instanceof UTF8String text) {
            return text.numBytes();
        }
        return value instanceof byte[] bytes ? bytes.length : 0;
    }
}
