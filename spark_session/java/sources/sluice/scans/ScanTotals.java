package sluice.scans;

/** What the files of a whole snapshot have. `rowGroups` is -1 if that is not known of all files. */
record ScanTotals(long partitions, long files, long bytes, long rows, long manifests, long rowGroups) {

    static final ScanTotals NONE = new ScanTotals(0, 0, 0, 0, 0, 0);

    /** Returns the values as a row of the JSON that spark_session/results/scan_metrics.py reads. */
    long[] row() {
        return new long[] {partitions, files, bytes, rows, manifests, rowGroups};
    }
}
