package sluice.progress;

import static sluice.collections.Lists.seq;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import org.apache.spark.Success$;
import org.apache.spark.TaskEndReason;
import org.apache.spark.executor.ExecutorMetrics;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.JobSucceeded$;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.scheduler.TaskLocality;
import org.apache.spark.sql.execution.SparkPlanInfo;
import org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates;
import org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import scala.Option;
import scala.Tuple2;
import scala.Tuple4;
import scala.collection.immutable.HashMap;
import scala.collection.immutable.HashSet;
import scala.collection.immutable.Seq;

/** Sends events to a QueryProgress, as Spark does, and reads its counters. Jobs, stages and tasks have numbers. */
final class Events {

    private static final long TIME = 100;

    final QueryProgress progress = new QueryProgress();

    /** Returns the counters of a query; null if it has none. */
    JsonNode counters(String tag) throws Exception {
        return new ObjectMapper().readTree(progress.progress(tag)).get(tag);
    }

    void startJob(int job, String tags, StageInfo... stages) {
        progress.onJobStart(new SparkListenerJobStart(job, TIME, seq(Arrays.asList(stages)), properties(tags)));
    }

    void endJob(int job) {
        progress.onJobEnd(new SparkListenerJobEnd(job, TIME, JobSucceeded$.MODULE$));
    }

    void submit(StageInfo stage, String tags) {
        progress.onStageSubmitted(new SparkListenerStageSubmitted(stage, properties(tags)));
    }

    void complete(StageInfo stage) {
        progress.onStageCompleted(new SparkListenerStageCompleted(stage));
    }

    void startTask(int stage, int task) {
        progress.onTaskStart(new SparkListenerTaskStart(stage, 0, task(task)));
    }

    void endTask(int stage, int task, AccumulableInfo... counted) {
        TaskInfo info = task(task);
        info.setAccumulables(seq(Arrays.asList(counted)));
        endTask(stage, info, Success$.MODULE$);
    }

    void failTask(int stage, int task, TaskEndReason reason, AccumulableInfo... counted) {
        TaskInfo info = task(task);
        info.setAccumulables(seq(Arrays.asList(counted)));
        endTask(stage, info, reason);
    }

    private void endTask(int stage, TaskInfo task, TaskEndReason reason) {
        progress.onTaskEnd(
            new SparkListenerTaskEnd(stage, 0, "ResultTask", reason, task, new ExecutorMetrics(), null));
    }

    /** Reports what a running task has counted so far. */
    void report(int stage, long task, AccumulableInfo... counted) {
        var ofTask = new Tuple4<Object, Object, Object, Seq<AccumulableInfo>>(
            task, stage, 0, seq(Arrays.asList(counted)));
        progress.onExecutorMetricsUpdate(
            new SparkListenerExecutorMetricsUpdate("1", seq(List.of(ofTask)), new HashMap<>()));
    }

    /** Reports what the driver has counted. */
    void reportOfDriver(long execution, long metric, long value) {
        progress.onOtherEvent(
            new SparkListenerDriverAccumUpdates(execution, seq(List.of(new Tuple2<>(metric, value)))));
    }

    void startExecution(long id, SparkPlanInfo plan, String tag) {
        progress.onOtherEvent(new SparkListenerSQLExecutionStart(
            id, Option.empty(), "", "", "", plan, TIME, new HashMap<>(),
            new HashSet<String>().incl(tag), Option.empty()));
    }

    void changePlan(long execution, SparkPlanInfo plan) {
        progress.onOtherEvent(new SparkListenerSQLAdaptiveExecutionUpdate(execution, "", plan));
    }

    void endExecution(long id) {
        progress.onOtherEvent(new SparkListenerSQLExecutionEnd(id, TIME, Option.empty()));
    }

    static StageInfo stage(int id, int tasks) {
        return stage(id, 0, tasks, Option.empty());
    }

    static StageInfo stage(int id, int attempt, int tasks, Option<Object> shuffle) {
        return new StageInfo(
            id, attempt, "stage", tasks, seq(new ArrayList<>()), seq(List.of()), "", null, seq(List.of()), shuffle, 0,
            false, 0);
    }

    static AccumulableInfo counted(long metric, long value) {
        return new AccumulableInfo(
            metric, Option.empty(), Option.apply(value), Option.empty(), true, true, Option.empty());
    }

    private static TaskInfo task(int id) {
        return new TaskInfo(id, id, 0, id, TIME, "1", "host", TaskLocality.ANY(), false);
    }

    private static Properties properties(String tags) {
        Properties properties = new Properties();
        if (tags != null) {
            properties.setProperty("spark.job.tags", tags);
        }
        return properties;
    }
}
