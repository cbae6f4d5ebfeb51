package sluice.rowgroups;

import java.util.ArrayList;
import java.util.List;

/** Ranges of the bytes of a file, in order. Ranges that touch are one. Nobody changes it. */
record CoveredBytes(List<Range> ranges) {

    static final CoveredBytes NONE = new CoveredBytes(List.of());

    private static final int MOST_RANGES = 1_000;
    private static final long RANGE_BYTES = 40;

    /** From the first byte to the one before the last. */
    record Range(long first, long end) {

        private boolean touches(Range other) {
            return first <= other.end && other.first <= end;
        }

        private Range with(Range other) {
            return new Range(Math.min(first, other.first), Math.max(end, other.end));
        }
    }

    /** Returns these ranges and another one; the same ones if there are too many. */
    CoveredBytes with(long first, long end) {
        Range added = new Range(first, end);
        List<Range> before = new ArrayList<>();
        List<Range> after = new ArrayList<>();
        for (Range each : ranges) {
            if (each.touches(added)) {
                added = added.with(each);
            } else {
                (each.first < added.first ? before : after).add(each);
            }
        }
        if (before.size() + after.size() >= MOST_RANGES) {
            return this;
        }
        before.add(added);
        before.addAll(after);
        return new CoveredBytes(List.copyOf(before));
    }

    /** Whether each byte from the first to the one before the end is in a range. */
    boolean hasAll(long first, long end) {
        return ranges.stream().anyMatch(each -> each.first <= first && end <= each.end);
    }

    /** Returns about how many bytes of memory they take. */
    long memory() {
        return ranges.size() * RANGE_BYTES;
    }
}
