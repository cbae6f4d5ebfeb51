package sluice.results;

/** How a column takes part in a value or in the choice of rows, the weakest first. */
enum SourceKind {
    IDENTITY,
    TRANSFORMATION,
    AGGREGATION,
    CONDITIONAL,
    FILTER,
    JOIN,
    GROUP_BY,
    SORT,
    WINDOW;

    /** A value only changes more on its way, and a column that only decides never becomes a value again. */
    SourceKind or(SourceKind other) {
        return compareTo(other) >= 0 ? this : other;
    }
}
