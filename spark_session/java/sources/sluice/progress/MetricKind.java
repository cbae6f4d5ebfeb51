package sluice.progress;

/** What the metrics of scans count; the order is that of engine_progress.py. */
enum MetricKind {
    ROWS("number of output rows"),
    SPLITS("number of file splits read"),
    RESULT_FILES("number of result data files"),
    RESULT_BYTES("total data file size (bytes)"),
    // Spark's own scans of files.
    FILES("number of files read"),
    FILE_BYTES("size of files read");

    private static final String NATIVE_SPLITS = "number of file splits processed";
    /** How many there are. */
    static final int COUNT = values().length;

    private final String description;

    MetricKind(String description) {
        this.description = description;
    }

    /** Returns the kind of a metric by the description that Spark, Iceberg or Comet has for it; null for all others. */
    static MetricKind of(String description) {
        if (description.equals(NATIVE_SPLITS)) {
            return SPLITS;
        }
        for (MetricKind kind : values()) {
            if (kind.description.equals(description)) {
                return kind;
            }
        }
        return null;
    }
}
