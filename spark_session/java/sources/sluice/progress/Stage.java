package sluice.progress;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.scheduler.StageInfo;
import org.apache.spark.scheduler.TaskInfo;

/** The counters of one stage of a query. It has no lock. */
final class Stage {

    final Run run;
    final int id;

    /** By their ids. */
    private final Map<Long, RunningTask> running = new HashMap<>();
    /** How many jobs need it. */
    private int jobs = 0;
    private int total;
    private int completed = 0;
    private boolean isSubmitted = false;
    private boolean isDone = false;

    Stage(Run run, StageInfo info) {
        this.run = run;
        this.id = info.stageId();
        this.total = info.numTasks();
    }

    void addJob() {
        jobs++;
    }

    void removeJob() {
        jobs--;
    }

    void submit(StageInfo info) {
        isSubmitted = true;
        if (info.attemptNumber() == 0) {
            total = info.numTasks();
        } else {
            // Only what is missing runs again.
            isDone = false;
            completed = Math.max(0, total - info.numTasks());
        }
    }

    void complete(StageInfo info) {
        isDone = true;
        completed = total;
        if (info.shuffleDepId().isDefined()) {
            run.addShuffle(info.shuffleDepId().get());
        }
    }

    void start(TaskInfo task) {
        running.put(task.taskId(), new RunningTask(task.partitionId()));
    }

    void end(TaskInfo task, boolean hasSucceeded) {
        running.remove(task.taskId());
        if (hasSucceeded) {
            completed = Math.min(total, completed + 1);
        }
    }

    /** Returns null if no such task runs. */
    RunningTask task(long taskId) {
        return running.get(taskId);
    }

    /** Adds what its running tasks have counted so far. */
    void addTo(Map<ScanCounters, RunningCounts> counted) {
        running.values().forEach(task -> task.addTo(counted, total));
    }

    boolean isOver() {
        return jobs <= 0 && running.isEmpty();
    }

    boolean isSubmitted() {
        return isSubmitted;
    }

    boolean isDone() {
        return isDone;
    }

    int total() {
        return total;
    }

    int completed() {
        return completed;
    }

    int running() {
        return running.size();
    }
}
