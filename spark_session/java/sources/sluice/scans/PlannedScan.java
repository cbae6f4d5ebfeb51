package sluice.scans;

import org.apache.spark.sql.execution.SparkPlan;

/**
 * A scan of a query's plan, and whether it has run.
 *
 * @param plan Spark's own node
 * @param node the node that reads: `plan` itself, or the native one that stands for it
 */
public record PlannedScan(SparkPlan plan, SparkPlan node, boolean hasRun) {}
