package sluice.progress;

import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.execution.SparkPlanInfo;
import org.apache.spark.sql.execution.metric.SQLMetricInfo;
import scala.collection.immutable.HashMap;

/** Nodes of plans as Spark's events describe them. */
final class PlanNodes {

    private PlanNodes() {}

    static SparkPlanInfo node(String name, SparkPlanInfo... children) {
        return new SparkPlanInfo(name, "", seq(Arrays.asList(children)), new HashMap<>(), seq(List.of()));
    }

    /** Returns a scan of a table; its metrics of rows, splits and selected files have this id and the next ones. */
    static SparkPlanInfo scan(String table, long firstMetric) {
        List<SQLMetricInfo> metrics = new ArrayList<>();
        long id = firstMetric;
        for (String name : List.of(
                "number of output rows", "number of file splits read", "number of result data files", "scan time")) {
            metrics.add(new SQLMetricInfo(name, id, "sum"));
            id++;
        }
        return new SparkPlanInfo("BatchScan " + table, "", seq(List.of()), new HashMap<>(), seq(metrics));
    }

    /** Returns a scan with a description; its metric of rows has this id, and a second one the next. */
    static SparkPlanInfo described(String name, String description, String second, long firstMetric) {
        List<SQLMetricInfo> metrics = List.of(
            new SQLMetricInfo("number of output rows", firstMetric, "sum"),
            new SQLMetricInfo(second, firstMetric + 1, "sum"));
        return new SparkPlanInfo(name, description, seq(List.of()), new HashMap<>(), seq(metrics));
    }
}
