package sluice.tuples;

/**
 * Tuples as points in a k-d tree, which is an order of them: the middle one of a range divides it by one column, the
 * lesser ones stand before it, and the greater ones after it. Each half is divided by the next column.
 */
final class TupleTree {

    private static final int FEW = 16;

    private final int[] tuples;
    /** For each column, the places of the values of all tuples. */
    private final int[][] places;
    /** The columns that divide. */
    private final int[] columns;

    TupleTree(int[] tuples, int[][] places, int[] columns) {
        this.tuples = tuples;
        this.places = places;
        this.columns = columns;
    }

    /** Brings the tuples from a position to another one into order. */
    void arrange(int from, int to) {
        arrange(from, to, 0);
    }

    private void arrange(int from, int to, int depth) {
        if (to - from <= FEW || columns.length == 0) {
            return;
        }
        int middle = (from + to) >>> 1;
        divide(from, to - 1, middle, places[columns[depth % columns.length]]);
        arrange(from, middle, depth + 1);
        arrange(middle + 1, to, depth + 1);
    }

    /** Puts the tuple that belongs there in the middle, the lesser ones before it, and the greater ones after it. */
    private void divide(int first, int last, int middle, int[] placesOf) {
        int from = first;
        int to = last;
        while (from < to) {
            int pivot = placesOf[tuples[(from + to) >>> 1]];
            int low = from;
            int high = to;
            while (low <= high) {
                while (placesOf[tuples[low]] < pivot) {
                    low++;
                }
                while (placesOf[tuples[high]] > pivot) {
                    high--;
                }
                if (low <= high) {
                    int kept = tuples[low];
                    tuples[low++] = tuples[high];
                    tuples[high--] = kept;
                }
            }
            if (middle <= high) {
                to = high;
            } else if (middle >= low) {
                from = low;
            } else {
                return;
            }
        }
    }

    /**
     * Whether one of the tuples from a position to another one is in a box: for each column, at least the place `lower`,
     * and less than `upper`. True, too, if that is not known after so many steps.
     */
    boolean mayHaveOne(int from, int to, int[] lower, int[] upper, int steps) {
        return new Search(lower, upper, steps).finds(from, to, 0);
    }

    private final class Search {

        private final int[] lower;
        private final int[] upper;
        private int steps;

        Search(int[] lower, int[] upper, int steps) {
            this.lower = lower;
            this.upper = upper;
            this.steps = steps;
        }

        boolean finds(int from, int to, int depth) {
            if (to - from <= FEW || columns.length == 0) {
                for (int at = from; at < to; at++) {
                    if (isHit(tuples[at])) {
                        return true;
                    }
                }
                return false;
            }
            int middle = (from + to) >>> 1;
            if (isHit(tuples[middle])) {
                return true;
            }
            int column = columns[depth % columns.length];
            int place = places[column][tuples[middle]];
            return lower[column] <= place && finds(from, middle, depth + 1)
                || upper[column] > place && finds(middle + 1, to, depth + 1);
        }

        private boolean isHit(int tuple) {
            if (--steps < 0) {
                return true;
            }
            for (int column = 0; column < places.length; column++) {
                int place = places[column][tuple];
                if (place < lower[column] || place >= upper[column]) {
                    return false;
                }
            }
            return true;
        }
    }
}
