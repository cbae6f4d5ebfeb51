package sluice.progress;

import static sluice.collections.Lists.list;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.sql.execution.SparkPlanInfo;
import org.apache.spark.sql.execution.metric.SQLMetricInfo;
import scala.Option;

/** The metrics of the scans of queries, by the ids of their accumulators. It has no lock. */
final class Metrics {

    /** Of one query. */
    private static final int SCANS_KEPT = 100;

    private final Map<Long, Metric> metrics = new HashMap<>();

    /** Takes the scans from a plan, and how many stages it will have at least. */
    void follow(Run run, SparkPlanInfo plan) {
        PlanShape shape = PlanShape.of(plan);
        run.follow(shape);
        shape.scans().forEach(node -> plan(run, node));
        run.dropUnplanned().forEach(this::drop);
    }

    private void plan(Run run, SparkPlanInfo node) {
        ScanCounters scan = null;
        for (SQLMetricInfo info : list(node.metrics())) {
            MetricKind kind = MetricKind.of(info.name());
            if (kind == null) {
                continue;
            }
            Metric known = metrics.get(info.accumulatorId());
            if (known != null) {
                known.scan().isPlanned = true;
                return;
            }
            if (scan == null && run.scans.size() >= SCANS_KEPT) {
                run.leaveOut();
                return;
            }
            if (scan == null) {
                scan = new ScanCounters(PlanShape.nameOf(node));
                run.scans.add(scan);
            }
            metrics.put(info.accumulatorId(), new Metric(info.accumulatorId(), scan, kind));
            scan.metrics.add(info.accumulatorId());
        }
    }

    /** Gives scans their splits, by the id of one of their metrics. */
    void take(Map<Long, ScanSplits> splits) {
        splits.forEach((id, ofScan) -> {
            Metric metric = metrics.get(id);
            if (metric != null) {
                metric.scan().take(ofScan);
            }
        });
    }

    /** Counts what the driver reports. */
    void add(long id, long value) {
        Metric metric = metrics.get(id);
        if (metric != null) {
            metric.scan().add(metric.kind(), value);
        }
    }

    /** Counts what a task of a stage with so many tasks reports at its end. */
    void end(TaskInfo task, int stageTasks) {
        for (AccumulableInfo info : list(task.accumulables())) {
            Metric metric = metrics.get(info.id());
            if (metric != null && isNumber(info.update())) {
                metric.scan().add(metric.kind(), ((Number) info.update().get()).longValue());
                metric.scan().end(task.partitionId(), stageTasks);
            }
        }
    }

    /** Returns the counts of those metrics that are of scans. */
    Map<Metric, Long> counted(List<AccumulableInfo> infos) {
        Map<Metric, Long> found = new HashMap<>();
        for (AccumulableInfo info : infos) {
            Metric metric = metrics.get(info.id());
            if (metric != null && isNumber(info.update())) {
                found.put(metric, ((Number) info.update().get()).longValue());
            }
        }
        return found;
    }

    void drop(Run run) {
        run.scans.forEach(this::drop);
    }

    private void drop(ScanCounters scan) {
        metrics.keySet().removeAll(scan.metrics);
    }

    private static boolean isNumber(Option<Object> value) {
        return value.isDefined() && value.get() instanceof Number;
    }
}
