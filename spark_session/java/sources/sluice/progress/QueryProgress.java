package sluice.progress;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates;
import org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;

/**
 * Counts how far each query is: its stages, its tasks, and what each of its scans has read.
 *
 * <p>A query is known by the tag of its jobs, which is its id. Its counters are bounded, and dropped when `forget`
 * names it; those of the oldest query make room for a new one. All scans are those of the plan that Spark follows now:
 * it may plan the rest of a query again after each stage.
 */
public final class QueryProgress extends SparkListener {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Stages stages = new Stages();
    private final Metrics metrics = new Metrics();
    private final Runs runs = new Runs(this::drop);

    /** Executions with scans whose splits are not known yet, and the metrics of their other scans. */
    private record Unread(List<Long> executions, Set<Long> known) {}

    /** Returns JSON: for each of these query ids, separated by commas, its counters, if any of its jobs has begun. */
    public String progress(String tags) throws JsonProcessingException {
        // Outside of the lock, which every event takes.
        Map<Long, ScanSplits> splits = splitsOf(unread(tags));
        return MAPPER.writeValueAsString(countersOf(tags, splits));
    }

    private synchronized Unread unread(String tags) {
        Unread found = new Unread(new ArrayList<>(), new HashSet<>());
        for (Run run : runs.named(tags)) {
            if (run.lacksSplits()) {
                found.executions.addAll(run.executions);
                found.known.addAll(run.metricsWithSplits());
            }
        }
        return found;
    }

    private static Map<Long, ScanSplits> splitsOf(Unread unread) {
        Map<Long, ScanSplits> found = new HashMap<>();
        for (long id : unread.executions) {
            QueryExecution execution = SQLExecution$.MODULE$.getQueryExecution(id);
            try {
                if (execution != null) {
                    found.putAll(SplitReader.of(execution, unread.known));
                }
            } catch (Exception failure) {
                // Its plan is of a kind that is not known: the bytes that it has read are not known either.
                continue;
            }
        }
        return found;
    }

    private synchronized Map<String, Object> countersOf(String tags, Map<Long, ScanSplits> splits) {
        metrics.take(splits);
        Map<String, Object> found = new HashMap<>();
        for (Run run : runs.named(tags)) {
            found.put(run.tag, run.counters());
        }
        return found;
    }

    /** Drops the counters of these query ids, separated by commas. */
    public synchronized void forget(String tags) {
        runs.named(tags).forEach(runs::drop);
    }

    /** Returns how many queries have counters. */
    public synchronized int size() {
        return runs.size();
    }

    @Override
    public synchronized void onJobStart(SparkListenerJobStart started) {
        Run run = runs.of(started.properties());
        if (run != null) {
            stages.startJob(run, started.jobId(), list(started.stageInfos()));
        }
    }

    @Override
    public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
        Stage stage = stages.get(submitted.stageInfo().stageId());
        if (stage == null) {
            // Its shuffle was there before, and is lost.
            Run run = runs.of(submitted.properties());
            stage = run == null ? null : stages.addWithoutJob(run, submitted.stageInfo());
        }
        if (stage != null) {
            stage.submit(submitted.stageInfo());
        }
    }

    @Override
    public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
        Stage stage = stages.get(completed.stageInfo().stageId());
        if (stage != null && completed.stageInfo().failureReason().isEmpty()) {
            stage.complete(completed.stageInfo());
        }
    }

    @Override
    public synchronized void onTaskStart(SparkListenerTaskStart started) {
        Stage stage = stages.get(started.stageId());
        if (stage != null) {
            stage.start(started.taskInfo());
        }
    }

    @Override
    public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
        Stage stage = stages.get(ended.stageId());
        TaskInfo task = ended.taskInfo();
        if (stage == null || task == null) {
            return;
        }
        boolean hasSucceeded = ended.reason() == Success$.MODULE$;
        stage.end(task, hasSucceeded);
        if (hasSucceeded && stage.run.hasScans()) {
            metrics.end(task, stage.total());
        }
        stages.dropIfOver(stage);
    }

    /** Executors report what their running tasks have counted so far. */
    @Override
    public synchronized void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate update) {
        for (var ofTask : list(update.accumUpdates())) {
            Stage stage = stages.get((Integer) ofTask._2());
            RunningTask task = stage == null ? null : stage.task((Long) ofTask._1());
            if (task != null) {
                task.countSoFar(metrics.counted(list(ofTask._4())));
            }
        }
    }

    @Override
    public synchronized void onJobEnd(SparkListenerJobEnd ended) {
        stages.endJob(ended.jobId());
    }

    @Override
    public synchronized void onOtherEvent(SparkListenerEvent event) {
        if (event instanceof SparkListenerSQLExecutionStart started) {
            start(started);
        } else if (event instanceof SparkListenerSQLAdaptiveExecutionUpdate update) {
            Run run = runs.ofExecution(update.executionId());
            if (run != null) {
                metrics.follow(run, update.sparkPlanInfo());
            }
        } else if (event instanceof SparkListenerDriverAccumUpdates updates) {
            list(updates.accumUpdates()).forEach(update -> metrics.add((Long) update._1(), (Long) update._2()));
        } else if (event instanceof SparkListenerSQLExecutionEnd ended) {
            Run run = runs.endExecution(ended.executionId());
            if (run != null && run.isUnused()) {
                // Most queries of literals run no job.
                runs.drop(run);
            }
        }
    }

    private void start(SparkListenerSQLExecutionStart started) {
        Run run = runs.of(iterable(started.jobTags()));
        if (run != null) {
            runs.startExecution(run, started.executionId());
            metrics.follow(run, started.sparkPlanInfo());
        }
    }

    private void drop(Run run) {
        stages.drop(run);
        metrics.drop(run);
    }
}
