package sluice.progress;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.spark.Success$;
import org.apache.spark.scheduler.AccumulableInfo;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerExecutorMetricsUpdate;
import org.apache.spark.scheduler.SparkListenerJobEnd;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerStageSubmitted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.SparkPlanInfo;
import org.apache.spark.sql.execution.metric.SQLMetricInfo;
import org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates;
import org.apache.spark.sql.execution.ui.SparkListenerSQLAdaptiveExecutionUpdate;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionStart;
import scala.Tuple2;
import scala.Tuple4;

/**
 * Counts how far each query is: its stages, its tasks, and what each of its scans has read.
 *
 * A query is known by the tag of its jobs, which is its id. Its counters are bounded, and dropped when `forget` names
 * it; those of the oldest query make room for a new one. All scans are those of the plan that Spark follows now: it
 * may plan the rest of a query again after each stage.
 */
public final class QueryProgress extends SparkListener {
    private static final int RUNS_KEPT = 1000;
    private static final int STAGES_KEPT = 2000;
    private static final int SCANS_KEPT = 100;
    private static final int NODES_READ = 10000;

    private final Map runs = new LinkedHashMap();
    private final Map runOfExecution = new HashMap();
    private final Map jobs = new HashMap();
    private final Map stages = new HashMap();
    private final Map metrics = new HashMap();

    /** Returns JSON: for each of these query ids, separated by commas, its counters, if any of its jobs has begun. */
    public String progress(String tags) throws Exception {
        Map found = new HashMap();
        // Outside of the lock, which every event takes.
        List executions = new ArrayList();
        Set known = new HashSet();
        findUnread(tags, executions, known);
        Map splits = splitsOf(executions, known);
        synchronized (this) {
            for (Iterator each = splits.entrySet().iterator(); each.hasNext();) {
                Map.Entry ofScan = (Map.Entry) each.next();
                Metric metric = (Metric) metrics.get(ofScan.getKey());
                if (metric != null) {
                    metric.scan.splits = (ScanSplits) ofScan.getValue();
                }
            }
            String[] each = tags.split(",");
            for (int i = 0; i < each.length; i++) {
                Run run = (Run) runs.get(each[i]);
                if (run != null) {
                    found.put(each[i], run.counters());
                }
            }
        }
        return new ObjectMapper().writeValueAsString(found);
    }

    /** Adds the executions with scans whose splits are not known yet, and the metrics of their other scans. */
    private synchronized void findUnread(String tags, List executions, Set known) {
        String[] each = tags.split(",");
        for (int i = 0; i < each.length; i++) {
            Run run = (Run) runs.get(each[i]);
            if (run != null && run.lacksSplits()) {
                executions.addAll(run.executions);
                run.addRead(known);
            }
        }
    }

    private static Map splitsOf(List executions, Set known) {
        Map found = new HashMap();
        for (Iterator each = executions.iterator(); each.hasNext();) {
            QueryExecution execution = SQLExecution$.MODULE$.getQueryExecution(((Long) each.next()).longValue());
            try {
                if (execution != null) {
                    found.putAll(ScanSplits.of(execution, known));
                }
            } catch (Exception failure) {
                // Its plan is of a kind that is not known: the bytes that it has read are not known either.
                continue;
            }
        }
        return found;
    }

    /** Drops the counters of these query ids, separated by commas. */
    public synchronized void forget(String tags) {
        String[] each = tags.split(",");
        for (int i = 0; i < each.length; i++) {
            Run run = (Run) runs.remove(each[i]);
            if (run != null) {
                drop(run);
            }
        }
    }

    /** Returns how many queries have counters. */
    public synchronized int size() {
        return runs.size();
    }

    public synchronized void onJobStart(SparkListenerJobStart started) {
        Run run = runOf(started.properties());
        if (run == null) {
            return;
        }
        List ofJob = new ArrayList();
        scala.collection.Iterator each = started.stageInfos().iterator();
        while (each.hasNext()) {
            Stage stage = stageOf(run, (StageInfo) each.next());
            if (stage != null) {
                stage.jobs++;
                ofJob.add(stage);
            }
        }
        Integer job = Integer.valueOf(started.jobId());
        jobs.put(job, ofJob);
        run.jobs.add(job);
    }

    public synchronized void onStageSubmitted(SparkListenerStageSubmitted submitted) {
        StageInfo info = submitted.stageInfo();
        Integer id = Integer.valueOf(info.stageId());
        Stage stage = (Stage) stages.get(id);
        if (stage == null) {
            // Its shuffle was there before, and is lost.
            Run run = runOf(submitted.properties());
            stage = run == null ? null : newStage(run, info);
            if (stage == null) {
                return;
            }
            // Nobody knows which job needs it: it is kept as long as the query.
            stage.jobs = 1;
        }
        stage.isSubmitted = true;
        if (info.attemptNumber() == 0) {
            stage.total = info.numTasks();
        } else {
            // Only what is missing runs again.
            stage.isDone = false;
            stage.completed = Math.max(0, stage.total - info.numTasks());
        }
    }

    public synchronized void onStageCompleted(SparkListenerStageCompleted completed) {
        StageInfo info = completed.stageInfo();
        Stage stage = (Stage) stages.get(Integer.valueOf(info.stageId()));
        if (stage != null && info.failureReason().isEmpty()) {
            stage.isDone = true;
            stage.completed = stage.total;
            if (info.shuffleDepId().isDefined()) {
                stage.run.shuffles.add(info.shuffleDepId().get());
            }
        }
    }

    public synchronized void onTaskStart(SparkListenerTaskStart started) {
        Stage stage = (Stage) stages.get(Integer.valueOf(started.stageId()));
        if (stage != null) {
            Task task = new Task(started.taskInfo().partitionId());
            stage.tasks.put(Long.valueOf(started.taskInfo().taskId()), task);
        }
    }

    public synchronized void onTaskEnd(SparkListenerTaskEnd ended) {
        Stage stage = (Stage) stages.get(Integer.valueOf(ended.stageId()));
        if (stage == null || ended.taskInfo() == null) {
            return;
        }
        stage.tasks.remove(Long.valueOf(ended.taskInfo().taskId()));
        if (ended.reason() == Success$.MODULE$) {
            stage.completed = Math.min(stage.total, stage.completed + 1);
            if (!stage.run.metrics.isEmpty()) {
                add(stage, ended.taskInfo());
            }
        }
        dropIfOver(stage);
    }

    /** Executors report what their running tasks have counted so far. */
    public synchronized void onExecutorMetricsUpdate(SparkListenerExecutorMetricsUpdate update) {
        scala.collection.Iterator each = update.accumUpdates().iterator();
        while (each.hasNext()) {
            Tuple4 ofTask = (Tuple4) each.next();
            Stage stage = (Stage) stages.get(ofTask._2());
            Task task = stage == null ? null : (Task) stage.tasks.get(ofTask._1());
            if (task != null) {
                task.soFar = soFar((scala.collection.Iterable) ofTask._4());
            }
        }
    }

    public synchronized void onJobEnd(SparkListenerJobEnd ended) {
        List ofJob = (List) jobs.remove(Integer.valueOf(ended.jobId()));
        for (int i = 0; ofJob != null && i < ofJob.size(); i++) {
            Stage stage = (Stage) ofJob.get(i);
            stage.run.jobs.remove(Integer.valueOf(ended.jobId()));
            stage.jobs--;
            dropIfOver(stage);
        }
    }

    public synchronized void onOtherEvent(SparkListenerEvent event) {
        if (event instanceof SparkListenerSQLExecutionStart) {
            SparkListenerSQLExecutionStart started = (SparkListenerSQLExecutionStart) event;
            Run run = runOf(started.jobTags().iterator());
            if (run != null) {
                runOfExecution.put(Long.valueOf(started.executionId()), run);
                run.executions.add(Long.valueOf(started.executionId()));
                run.stagesBefore = run.stageCount();
                read(run, started.sparkPlanInfo());
            }
        } else if (event instanceof SparkListenerSQLAdaptiveExecutionUpdate) {
            SparkListenerSQLAdaptiveExecutionUpdate update = (SparkListenerSQLAdaptiveExecutionUpdate) event;
            Run run = (Run) runOfExecution.get(Long.valueOf(update.executionId()));
            if (run != null) {
                read(run, update.sparkPlanInfo());
            }
        } else if (event instanceof SparkListenerDriverAccumUpdates) {
            add((SparkListenerDriverAccumUpdates) event);
        } else if (event instanceof SparkListenerSQLExecutionEnd) {
            Long id = Long.valueOf(((SparkListenerSQLExecutionEnd) event).executionId());
            Run run = (Run) runOfExecution.remove(id);
            if (run != null) {
                run.executions.remove(id);
                if (run.isUnused()) {
                    // Most queries of literals run no job.
                    runs.remove(run.tag);
                    drop(run);
                }
            }
        }
    }

    private Run runOf(Properties properties) {
        String tags = properties == null ? null : properties.getProperty("spark.job.tags");
        if (tags == null) {
            return null;
        }
        String[] each = tags.split(",");
        for (int i = 0; i < each.length; i++) {
            if (isId(each[i])) {
                return runOf(each[i]);
            }
        }
        return null;
    }

    private Run runOf(scala.collection.Iterator tags) {
        while (tags.hasNext()) {
            String tag = (String) tags.next();
            if (isId(tag)) {
                return runOf(tag);
            }
        }
        return null;
    }

    private Run runOf(String tag) {
        Run run = (Run) runs.get(tag);
        if (run == null) {
            run = new Run(tag);
            runs.put(tag, run);
            if (runs.size() > RUNS_KEPT) {
                Iterator oldest = runs.values().iterator();
                Run dropped = (Run) oldest.next();
                oldest.remove();
                drop(dropped);
            }
        }
        return run;
    }

    /** Whether a tag has the form of an id; Spark and the gateway have others. */
    private static boolean isId(String tag) {
        return tag.length() == 36 && tag.charAt(8) == '-' && tag.charAt(13) == '-' && tag.charAt(18) == '-';
    }

    private Stage stageOf(Run run, StageInfo info) {
        Stage known = (Stage) stages.get(Integer.valueOf(info.stageId()));
        if (known != null) {
            return known;
        }
        // A stage whose shuffle is there will not run again.
        boolean isThere = info.shuffleDepId().isDefined() && run.shuffles.contains(info.shuffleDepId().get());
        return isThere ? null : newStage(run, info);
    }

    private Stage newStage(Run run, StageInfo info) {
        if (run.stageCount() >= STAGES_KEPT) {
            return null;
        }
        Stage stage = new Stage(run, info);
        stages.put(stage.id, stage);
        run.stages.put(stage.id, stage);
        return stage;
    }

    /** Keeps only the sums of a stage that no job needs, and that has no task. */
    private void dropIfOver(Stage stage) {
        if (stage.jobs > 0 || !stage.tasks.isEmpty() || stages.get(stage.id) != stage) {
            return;
        }
        stages.remove(stage.id);
        stage.run.stages.remove(stage.id);
        if (stage.isSubmitted) {
            // What is left of a stage that failed will not run.
            stage.run.endedStages++;
            stage.run.doneStages += stage.isDone ? 1 : 0;
            stage.run.endedTasks += stage.completed;
        }
    }

    private void drop(Run run) {
        stages.keySet().removeAll(run.stages.keySet());
        jobs.keySet().removeAll(run.jobs);
        runOfExecution.keySet().removeAll(run.executions);
        metrics.keySet().removeAll(run.metrics);
    }

    private Map soFar(scala.collection.Iterable counted) {
        Map found = new HashMap();
        scala.collection.Iterator each = counted.iterator();
        while (each.hasNext()) {
            AccumulableInfo info = (AccumulableInfo) each.next();
            Object metric = metrics.get(Long.valueOf(info.id()));
            if (metric != null && info.update().isDefined() && info.update().get() instanceof Number) {
                found.put(metric, info.update().get());
            }
        }
        return found;
    }

    private void add(Stage stage, TaskInfo task) {
        scala.collection.Iterator each = task.accumulables().iterator();
        while (each.hasNext()) {
            AccumulableInfo info = (AccumulableInfo) each.next();
            Metric metric = (Metric) metrics.get(Long.valueOf(info.id()));
            if (metric != null && info.update().isDefined() && info.update().get() instanceof Number) {
                metric.add(((Number) info.update().get()).longValue());
                metric.scan.end(task.partitionId(), stage.total);
            }
        }
    }

    private void add(SparkListenerDriverAccumUpdates updates) {
        scala.collection.Iterator each = updates.accumUpdates().iterator();
        while (each.hasNext()) {
            Tuple2 update = (Tuple2) each.next();
            Metric metric = (Metric) metrics.get(update._1());
            if (metric != null) {
                metric.add(((Number) update._2()).longValue());
            }
        }
    }

    /** Takes the scans from a plan, and how many stages it will have at least. */
    private void read(Run run, SparkPlanInfo plan) {
        PlanReader reader = new PlanReader();
        reader.read(plan);
        run.hasPlan = true;
        run.isWhole = run.isWhole && reader.nodes <= NODES_READ;
        run.stagesOfPlan = reader.exchanges + 1;
        for (Iterator each = run.scans.iterator(); each.hasNext();) {
            ScanCounters scan = (ScanCounters) each.next();
            scan.isPlanned = false;
        }
        for (Iterator each = reader.scans.iterator(); each.hasNext();) {
            plan(run, (SparkPlanInfo) each.next());
        }
        for (Iterator each = run.scans.iterator(); each.hasNext();) {
            ScanCounters scan = (ScanCounters) each.next();
            if (!scan.isPlanned && !scan.hasCounted) {
                // It was planned, and is no longer.
                each.remove();
                metrics.keySet().removeAll(scan.metrics);
                run.metrics.removeAll(scan.metrics);
            }
        }
    }

    private void plan(Run run, SparkPlanInfo node) {
        scala.collection.Iterator each = node.metrics().iterator();
        ScanCounters scan = null;
        while (each.hasNext()) {
            SQLMetricInfo info = (SQLMetricInfo) each.next();
            int place = ScanCounters.placeOf(info.name());
            if (place < 0) {
                continue;
            }
            Long id = Long.valueOf(info.accumulatorId());
            Metric known = (Metric) metrics.get(id);
            if (known != null) {
                known.scan.isPlanned = true;
                return;
            }
            if (scan == null) {
                if (run.scans.size() >= SCANS_KEPT) {
                    run.isWhole = false;
                    return;
                }
                scan = new ScanCounters(node.nodeName());
                run.scans.add(scan);
            }
            metrics.put(id, new Metric(scan, place));
            scan.metrics.add(id);
            run.metrics.add(id);
        }
    }

    private static final class PlanReader {
        final List scans = new ArrayList();
        int exchanges = 0;
        int nodes = 0;

        void read(SparkPlanInfo node) {
            String name = node.nodeName();
            nodes++;
            if (nodes > NODES_READ || name.equals("ReusedExchange") || name.equals("ReusedSubquery")) {
                return;
            }
            if (name.equals("Exchange") || name.equals("BroadcastExchange")) {
                exchanges++;
            }
            if (name.startsWith("BatchScan ") || name.startsWith("Scan ")) {
                scans.add(node);
            }
            scala.collection.Iterator each = node.children().iterator();
            while (each.hasNext()) {
                read((SparkPlanInfo) each.next());
            }
        }
    }

    private static final class Run {
        final String tag;
        final Map stages = new LinkedHashMap();
        final Set jobs = new HashSet();
        final Set executions = new HashSet();
        final Set metrics = new HashSet();
        final Set shuffles = new HashSet();
        final List scans = new ArrayList();
        boolean hasPlan = false;
        boolean isWhole = true;
        int stagesBefore = 0;
        int stagesOfPlan = 0;
        int endedStages = 0;
        int doneStages = 0;
        long endedTasks = 0;

        Run(String tag) {
            this.tag = tag;
        }

        int stageCount() {
            return endedStages + stages.size();
        }

        boolean lacksSplits() {
            for (Iterator each = scans.iterator(); each.hasNext();) {
                if (((ScanCounters) each.next()).splits == null) {
                    return true;
                }
            }
            return false;
        }

        void addRead(Set known) {
            for (Iterator each = scans.iterator(); each.hasNext();) {
                ScanCounters scan = (ScanCounters) each.next();
                if (scan.splits != null) {
                    known.addAll(scan.metrics);
                }
            }
        }

        boolean isUnused() {
            return executions.isEmpty() && jobs.isEmpty() && stageCount() == 0;
        }

        Map counters() {
            int completedStages = doneStages;
            long completed = endedTasks;
            long total = endedTasks;
            int running = 0;
            Map counted = new HashMap();
            for (Iterator each = stages.values().iterator(); each.hasNext();) {
                Stage stage = (Stage) each.next();
                completedStages += stage.isDone ? 1 : 0;
                completed += stage.completed;
                total += stage.total;
                running += stage.tasks.size();
                for (Iterator tasks = stage.tasks.values().iterator(); tasks.hasNext();) {
                    addTo(counted, (Task) tasks.next(), stage.total);
                }
            }
            Map found = new HashMap();
            found.put("stages", new long[] {completedStages, stageCount(), stagesBefore + stagesOfPlan});
            found.put("tasks", new long[] {completed, running, total});
            List ofScans = new ArrayList();
            for (Iterator each = scans.iterator(); each.hasNext();) {
                ScanCounters scan = (ScanCounters) each.next();
                ScanCounters.Running soFar = (ScanCounters.Running) counted.get(scan);
                ofScans.add(new Object[] {scan.node, scan.sumsWith(soFar), scan.readWith(soFar)});
            }
            found.put("scans", ofScans);
            found.put("isWhole", Boolean.valueOf(hasPlan && isWhole));
            return found;
        }

        private static void addTo(Map counted, Task task, int stageTasks) {
            for (Iterator each = task.soFar.entrySet().iterator(); each.hasNext();) {
                Map.Entry ofMetric = (Map.Entry) each.next();
                Metric metric = (Metric) ofMetric.getKey();
                ScanCounters.Running ofScan = (ScanCounters.Running) counted.get(metric.scan);
                if (ofScan == null) {
                    ofScan = new ScanCounters.Running();
                    counted.put(metric.scan, ofScan);
                }
                ofScan.add(metric.place, ((Number) ofMetric.getValue()).longValue(), task.partition, stageTasks);
            }
        }
    }

    private static final class Stage {
        final Run run;
        final Integer id;
        /** Its running tasks by their ids. */
        final Map tasks = new HashMap();
        int jobs = 0;
        int total;
        int completed = 0;
        boolean isSubmitted = false;
        boolean isDone = false;

        Stage(Run run, StageInfo info) {
            this.run = run;
            this.id = Integer.valueOf(info.stageId());
            this.total = info.numTasks();
        }
    }

    private static final class Task {
        final int partition;
        /** What it has counted so far, by metrics: its executor reports it now and then. */
        Map soFar = new HashMap();

        Task(int partition) {
            this.partition = partition;
        }
    }

    private static final class Metric {
        final ScanCounters scan;
        final int place;

        Metric(ScanCounters scan, int place) {
            this.scan = scan;
            this.place = place;
        }

        void add(long value) {
            scan.add(place, value);
        }
    }
}
