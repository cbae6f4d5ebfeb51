package sluice.relations;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Contains;
import org.apache.spark.sql.catalyst.expressions.EndsWith;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.StartsWith;

/** The values that a column must have for a condition to be true, as far as the condition says it plainly. */
final class ConditionRanges {

    /** Expressions that raise no error for any row, so it does not matter for which rows they are evaluated. */
    private static final Set<Class<?>> HARMLESS = Set.of(
        And.class, Or.class, Not.class, EqualTo.class, EqualNullSafe.class, LessThan.class, LessThanOrEqual.class,
        GreaterThan.class, GreaterThanOrEqual.class, In.class, InSet.class, IsNull.class, IsNotNull.class,
        StartsWith.class, EndsWith.class, Contains.class, Literal.class, BoundReference.class);

    private ConditionRanges() {}

    /** Whether no row can make the evaluation of the condition fail. */
    static boolean isHarmless(Expression condition) {
        return HARMLESS.contains(condition.getClass())
            && list(condition.children()).stream().allMatch(ConditionRanges::isHarmless);
    }

    /** Maps the places of columns to their values' ranges. Columns of which nothing is known are left out. */
    static Map<Integer, List<ValueRange>> of(Expression condition) {
        Map<Integer, List<ValueRange>> found = new HashMap<>();
        add(condition, found);
        return found;
    }

    private static void add(Expression condition, Map<Integer, List<ValueRange>> found) {
        if (condition instanceof And both) {
            add(both.left(), found);
            add(both.right(), found);
        } else if (condition instanceof In list && isOrdered(list.value())) {
            addValues(list.value(), literals(list(list.list())), found);
        } else if (condition instanceof InSet set && isOrdered(set.child())) {
            addValues(set.child(), integers(iterable(set.hset())), found);
        } else if (condition instanceof BinaryComparison comparison) {
            addComparison(comparison, found);
        }
    }

    private static void addComparison(BinaryComparison comparison, Map<Integer, List<ValueRange>> found) {
        boolean isMirrored = isOrdered(comparison.right());
        Expression column = isMirrored ? comparison.right() : comparison.left();
        Expression other = isMirrored ? comparison.left() : comparison.right();
        if (!isOrdered(column) || !(other instanceof Literal literal) || !(literal.value() instanceof Integer value)) {
            return;
        }
        List<ValueRange> ranges = ranges(comparison, isMirrored, value);
        if (ranges != null) {
            addRanges(column, ranges, found);
        }
    }

    /** Returns the values on the column's side; null if the comparison is of another kind. */
    private static List<ValueRange> ranges(BinaryComparison comparison, boolean isMirrored, int value) {
        if (comparison instanceof EqualTo || comparison instanceof EqualNullSafe) {
            return List.of(new ValueRange(value, value));
        }
        boolean isLess = comparison instanceof LessThan || comparison instanceof LessThanOrEqual;
        if (comparison instanceof LessThan || comparison instanceof GreaterThan) {
            return isLess != isMirrored ? ValueRange.below(value) : ValueRange.above(value);
        }
        if (comparison instanceof LessThanOrEqual || comparison instanceof GreaterThanOrEqual) {
            return isLess != isMirrored
                ? List.of(new ValueRange(Integer.MIN_VALUE, value))
                : List.of(new ValueRange(value, Integer.MAX_VALUE));
        }
        return null;
    }

    private static void addValues(Expression column, Set<Integer> values, Map<Integer, List<ValueRange>> found) {
        if (values != null) {
            addRanges(column, values.stream().map(value -> new ValueRange(value, value)).toList(), found);
        }
    }

    private static void addRanges(
            Expression column, List<ValueRange> ranges, Map<Integer, List<ValueRange>> found) {
        int place = ((BoundReference) column).ordinal();
        found.put(place, ValueRange.common(ranges, found.getOrDefault(place, List.of(ValueRange.ALL))));
    }

    private static boolean isOrdered(Expression side) {
        return side instanceof BoundReference column && SortedPlaces.hasOrder(column.dataType());
    }

    private static Set<Integer> literals(List<Expression> values) {
        if (!values.stream().allMatch(Literal.class::isInstance)) {
            return null;
        }
        return integers(values.stream().map(value -> ((Literal) value).value()).toList());
    }

    /** Returns the values without NULL, for which a list is never true; null if others are among them. */
    private static Set<Integer> integers(Iterable<?> values) {
        Set<Integer> found = new HashSet<>();
        for (Object value : values) {
            if (value instanceof Integer number) {
                found.add(number);
            } else if (value != null) {
                return null;
            }
        }
        return found;
    }
}
