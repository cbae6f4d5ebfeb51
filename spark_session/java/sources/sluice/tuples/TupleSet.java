package sluice.tuples;

import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.types.Type;

/** Tuples of values, none of which is NULL. Each value is kept once, and a tuple has the places of its values. */
public final class TupleSet {

    private final int count;
    private final List<Type> types;
    private final List<SortedValues> values = new ArrayList<>();
    private final List<int[]> places = new ArrayList<>();

    private TupleSet(int count, List<Type> types) {
        this.count = count;
        this.types = List.copyOf(types);
    }

    /**
     * Returns the tuples of these columns.
     *
     * @param columns for each type, a `long[]` or an `Object[]`, as `SortedValues.isNumber` says
     */
    public static TupleSet of(List<? extends Type> types, List<?> columns, int count) {
        TupleSet found = new TupleSet(count, List.copyOf(types));
        for (int at = 0; at < types.size(); at++) {
            int[] placesOf = new int[count];
            if (columns.get(at) instanceof long[] numbers) {
                SortedValues sorted = SortedValues.ofNumbers(types.get(at), numbers);
                for (int tuple = 0; tuple < count; tuple++) {
                    placesOf[tuple] = sorted.placeOf(numbers[tuple]);
                }
                found.add(sorted, placesOf);
            } else {
                Object[] objects = (Object[]) columns.get(at);
                SortedValues sorted = SortedValues.ofObjects(types.get(at), objects);
                for (int tuple = 0; tuple < count; tuple++) {
                    placesOf[tuple] = sorted.placeOf(objects[tuple]);
                }
                found.add(sorted, placesOf);
            }
        }
        return found;
    }

    private void add(SortedValues sorted, int[] placesOf) {
        values.add(sorted);
        places.add(placesOf);
    }

    int count() {
        return count;
    }

    /** Returns the types of the columns. */
    List<Type> types() {
        return types;
    }

    /** Returns the distinct values of a column. */
    SortedValues values(int column) {
        return values.get(column);
    }

    /** Returns for each tuple the place of its value in a column. Nobody may change them. */
    int[] places(int column) {
        return places.get(column);
    }

    /** Returns about how much memory it takes. */
    long bytes() {
        long bytes = (long) Integer.BYTES * count * types.size();
        for (SortedValues each : values) {
            bytes += each.bytes();
        }
        return bytes;
    }
}
