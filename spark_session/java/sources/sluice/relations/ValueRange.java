package sluice.relations;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** Values from the least to the most, both included. */
record ValueRange(int least, int most) {

    static final ValueRange ALL = new ValueRange(Integer.MIN_VALUE, Integer.MAX_VALUE);

    /** Returns the values below a limit; none if there are none. */
    static List<ValueRange> below(int limit) {
        return limit == Integer.MIN_VALUE ? List.of() : List.of(new ValueRange(Integer.MIN_VALUE, limit - 1));
    }

    /** Returns the values above a limit; none if there are none. */
    static List<ValueRange> above(int limit) {
        return limit == Integer.MAX_VALUE ? List.of() : List.of(new ValueRange(limit + 1, Integer.MAX_VALUE));
    }

    /** Returns the values that are in a range of each list, in their order. Those of a list have no value in common. */
    static List<ValueRange> common(List<ValueRange> one, List<ValueRange> other) {
        List<ValueRange> found = new ArrayList<>();
        for (ValueRange left : one) {
            for (ValueRange right : other) {
                int least = Math.max(left.least, right.least);
                int most = Math.min(left.most, right.most);
                if (least <= most) {
                    found.add(new ValueRange(least, most));
                }
            }
        }
        found.sort(Comparator.comparingInt(ValueRange::least));
        return found;
    }
}
