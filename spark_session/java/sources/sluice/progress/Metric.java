package sluice.progress;

/** One metric of a scan, by the id of its accumulator. */
record Metric(long id, ScanCounters scan, MetricKind kind) {}
