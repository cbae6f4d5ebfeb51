package sluice.progress;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The counters of one query. It has no lock. */
final class Run {

    /** The id of the query. */
    final String tag;
    /** The stages that some job needs, or that have tasks, by their ids. */
    final Map<Integer, Stage> stages = new LinkedHashMap<>();
    final Set<Integer> jobs = new HashSet<>();
    final Set<Long> executions = new HashSet<>();
    final List<ScanCounters> scans = new ArrayList<>();

    private final Set<Object> shuffles = new HashSet<>();
    private boolean hasPlan = false;
    private boolean isWhole = true;
    private int stagesBefore = 0;
    private int stagesOfPlan = 0;
    private int endedStages = 0;
    private int doneStages = 0;
    private long endedTasks = 0;

    Run(String tag) {
        this.tag = tag;
    }

    int stageCount() {
        return endedStages + stages.size();
    }

    boolean hasScans() {
        return !scans.isEmpty();
    }

    /** Whether nothing of the query runs, and no stage of it is counted. */
    boolean isUnused() {
        return executions.isEmpty() && jobs.isEmpty() && stageCount() == 0;
    }

    void startExecution(long id) {
        executions.add(id);
        stagesBefore = stageCount();
    }

    /** Takes the number of stages from the plan. No scan is in the plan until its `isPlanned` is set again. */
    void follow(PlanShape plan) {
        hasPlan = true;
        isWhole = isWhole && plan.isWhole();
        stagesOfPlan = plan.leastStages();
        scans.forEach(scan -> scan.isPlanned = false);
    }

    /** Notes that something of its plan is not counted. */
    void leaveOut() {
        isWhole = false;
    }

    /** Drops the scans that were planned and are no longer, and have counted nothing. Returns them. */
    List<ScanCounters> dropUnplanned() {
        List<ScanCounters> unplanned = scans.stream().filter(scan -> !scan.isPlanned && !scan.hasCounted()).toList();
        scans.removeAll(unplanned);
        return unplanned;
    }

    boolean lacksSplits() {
        return scans.stream().anyMatch(scan -> !scan.hasSplits());
    }

    /** Returns the ids of the metrics of scans whose splits are known. */
    List<Long> metricsWithSplits() {
        return scans.stream().filter(ScanCounters::hasSplits).flatMap(scan -> scan.metrics.stream()).toList();
    }

    void addShuffle(Object id) {
        shuffles.add(id);
    }

    boolean hasShuffle(Object id) {
        return shuffles.contains(id);
    }

    /** Keeps the sums of a stage. */
    void drop(Stage stage) {
        stages.remove(stage.id);
        if (stage.isSubmitted()) {
            // What is left of a stage that failed will not run.
            endedStages++;
            doneStages += stage.isDone() ? 1 : 0;
            endedTasks += stage.completed();
        }
    }

    /** Returns the counters as spark_session/results/engine_progress.py reads them. */
    Map<String, Object> counters() {
        int completedStages = doneStages;
        long completed = endedTasks;
        long total = endedTasks;
        int running = 0;
        for (Stage stage : stages.values()) {
            completedStages += stage.isDone() ? 1 : 0;
            completed += stage.completed();
            total += stage.total();
            running += stage.running();
        }
        Map<String, Object> found = new HashMap<>();
        found.put("stages", new long[] {completedStages, stageCount(), stagesBefore + stagesOfPlan});
        found.put("tasks", new long[] {completed, running, total});
        found.put("scans", rowsOfScans());
        found.put("isWhole", hasPlan && isWhole);
        return found;
    }

    private List<List<Object>> rowsOfScans() {
        Map<ScanCounters, RunningCounts> running = new HashMap<>();
        stages.values().forEach(stage -> stage.addTo(running));
        return scans.stream().map(scan -> scan.row(running.getOrDefault(scan, RunningCounts.NONE))).toList();
    }
}
