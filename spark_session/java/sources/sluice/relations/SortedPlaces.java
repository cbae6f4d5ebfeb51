package sluice.relations;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;

/**
 * The places of rows in the order of the values that one column has there, so that the rows of a few values are found
 * without reading all of them. Rows without a value are left out: no comparison is true for them.
 */
final class SortedPlaces {

    /** Each has a value in its upper half, and the place of a row in its lower one. */
    private final long[] valuesAndPlaces;

    private SortedPlaces(long[] valuesAndPlaces) {
        this.valuesAndPlaces = valuesAndPlaces;
    }

    /** Whether values of this type can be ordered here. */
    static boolean hasOrder(DataType type) {
        return DataTypes.IntegerType.equals(type) || DataTypes.DateType.equals(type);
    }

    /** Orders the rows by a column whose type has an order. */
    static SortedPlaces of(InternalRow[] rows, int column) {
        long[] found = new long[rows.length];
        int count = 0;
        for (int place = 0; place < rows.length; place++) {
            if (!rows[place].isNullAt(column)) {
                found[count++] = lowest(rows[place].getInt(column)) | place;
            }
        }
        long[] sorted = Arrays.copyOf(found, count);
        Arrays.sort(sorted);
        return new SortedPlaces(sorted);
    }

    long bytes() {
        return (long) Long.BYTES * valuesAndPlaces.length;
    }

    /** Returns how many rows have a value within the ranges. */
    int count(List<ValueRange> ranges) {
        int count = 0;
        for (ValueRange range : ranges) {
            count += end(range) - begin(range);
        }
        return count;
    }

    /** Returns the places of these rows in the order of the rows. The ranges have no value in common. */
    int[] within(List<ValueRange> ranges) {
        int[] found = new int[count(ranges)];
        int count = 0;
        for (ValueRange range : ranges) {
            for (int at = begin(range); at < end(range); at++) {
                found[count++] = (int) valuesAndPlaces[at];
            }
        }
        Arrays.sort(found);
        return found;
    }

    private int begin(ValueRange range) {
        return firstFrom(lowest(range.least()));
    }

    private int end(ValueRange range) {
        return range.most() == Integer.MAX_VALUE
            ? valuesAndPlaces.length
            : Math.max(begin(range), firstFrom(lowest(range.most() + 1)));
    }

    private int firstFrom(long lowest) {
        int found = Arrays.binarySearch(valuesAndPlaces, lowest);
        return found < 0 ? -found - 1 : found;
    }

    private static long lowest(int value) {
        return (long) value << Integer.SIZE;
    }
}
