package sluice.tuples;

import java.util.Arrays;
import java.util.Comparator;
import org.apache.iceberg.types.Comparators;
import org.apache.iceberg.types.Type;

/** Distinct values of one type in Iceberg's order. Each is known by its place. */
final class SortedValues {

    private static final long OBJECT_BYTES = 64;

    private final Type type;
    /** Null if the values are not numbers. */
    private final long[] numbers;
    private final Object[] objects;
    private final Comparator<Object> order;

    private SortedValues(Type type, long[] numbers, Object[] objects, Comparator<Object> order) {
        this.type = type;
        this.numbers = numbers;
        this.objects = objects;
        this.order = order;
    }

    /** Whether values of the type are kept as numbers: whole numbers, days, moments, and booleans. */
    static boolean isNumber(Type type) {
        return switch (type.typeId()) {
            case INTEGER, LONG, DATE, TIMESTAMP, BOOLEAN -> true;
            default -> false;
        };
    }

    /** Returns the distinct ones of these values, which are of a type for which `isNumber` is true. */
    static SortedValues ofNumbers(Type type, long[] values) {
        return new SortedValues(type, distinct(values), null, null);
    }

    /** Returns the distinct ones of these values. */
    static SortedValues ofObjects(Type type, Object[] values) {
        Comparator<Object> order = Comparators.forType(type.asPrimitiveType());
        Object[] sorted = values.clone();
        Arrays.sort(sorted, order);
        int count = 0;
        for (Object value : sorted) {
            if (count == 0 || order.compare(sorted[count - 1], value) != 0) {
                sorted[count++] = value;
            }
        }
        return new SortedValues(type, null, Arrays.copyOf(sorted, count), order);
    }

    /** Returns the distinct ones of these values, whatever their type is. */
    static SortedValues of(Type type, Object[] values) {
        if (!isNumber(type)) {
            return ofObjects(type, values);
        }
        return ofNumbers(type, Arrays.stream(values).mapToLong(SortedValues::number).toArray());
    }

    /** Returns the distinct numbers in order. */
    static long[] distinct(long[] values) {
        long[] sorted = values.clone();
        Arrays.sort(sorted);
        int count = 0;
        for (long value : sorted) {
            if (count == 0 || sorted[count - 1] != value) {
                sorted[count++] = value;
            }
        }
        return Arrays.copyOf(sorted, count);
    }

    int count() {
        return numbers == null ? objects.length : numbers.length;
    }

    /** Returns the value at a place, in the class that Iceberg uses for the type. */
    Object value(int place) {
        if (numbers == null) {
            return objects[place];
        }
        return switch (type.typeId()) {
            case INTEGER, DATE -> Math.toIntExact(numbers[place]);
            case BOOLEAN -> numbers[place] != 0;
            default -> numbers[place];
        };
    }

    /** Returns the place of a value; negative if it is not among them. */
    int placeOf(Object value) {
        return numbers == null ? Arrays.binarySearch(objects, value, order) : placeOf(number(value));
    }

    int placeOf(long number) {
        return Arrays.binarySearch(numbers, number);
    }

    /** Returns the number of values that are less than this one. */
    int below(Object value) {
        int place = placeOf(value);
        return place < 0 ? -place - 1 : place;
    }

    /** Returns the number of values that are not greater than this one. */
    int upTo(Object value) {
        int place = placeOf(value);
        return place < 0 ? -place - 1 : place + 1;
    }

    long bytes() {
        return numbers == null ? OBJECT_BYTES * objects.length : (long) Long.BYTES * numbers.length;
    }

    private static long number(Object value) {
        if (value instanceof Boolean is) {
            return is ? 1 : 0;
        }
        return ((Number) value).longValue();
    }
}
