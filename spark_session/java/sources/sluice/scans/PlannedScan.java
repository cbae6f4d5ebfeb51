package sluice.scans;

import org.apache.spark.sql.execution.SparkPlan;

/** A scan of a query's plan, and whether it has run. */
public record PlannedScan(SparkPlan plan, boolean hasRun) {}
