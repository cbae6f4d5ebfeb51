package sluice.progress;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** What one scan of a running query has read so far. It has no lock. */
final class ScanCounters {

    private static final long[] UNKNOWN = {-1, -1};

    /** The ids of its metrics. */
    final List<Long> metrics = new ArrayList<>();
    /** Whether it is in the plan that Spark follows now. */
    boolean isPlanned = true;

    private final String node;
    /** By the kind of the metric; -1: it has not been counted. */
    private final long[] sums = new long[MetricKind.COUNT];
    private final BitSet endedTasks = new BitSet();
    private boolean hasCounted = false;
    /** What its tasks read; null: it is not known yet. */
    private ScanSplits splits = null;
    /** The number of tasks of its stages; -1: these differ. */
    private int stageTasks = 0;

    /** `node` is the name of its node in the plan. */
    ScanCounters(String node) {
        this.node = node;
        Arrays.fill(sums, -1L);
    }

    boolean hasCounted() {
        return hasCounted;
    }

    boolean hasSplits() {
        return splits != null;
    }

    void take(ScanSplits known) {
        splits = known;
    }

    /** Counts what a task, or the driver, reports at its end. */
    void add(MetricKind kind, long value) {
        hasCounted = true;
        sums[kind.ordinal()] = Math.max(sums[kind.ordinal()], 0) + value;
    }

    /** Notes that a task of a stage with so many tasks has read all that it had to. */
    void end(int task, int tasks) {
        stageTasks = stageTasks == 0 || stageTasks == tasks ? tasks : -1;
        if (task >= 0) {
            endedTasks.set(task);
        }
    }

    /** Returns its node, its sums, and what it has read, with what its running tasks have counted. */
    List<Object> row(RunningCounts running) {
        return List.of(node, sumsWith(running), readWith(running));
    }

    /** Returns the sums by the kinds of metrics; -1: not counted yet. */
    private long[] sumsWith(RunningCounts running) {
        long[] all = sums.clone();
        for (MetricKind kind : MetricKind.values()) {
            int place = kind.ordinal();
            all[place] = running.sum(kind) == 0 ? all[place] : Math.max(all[place], 0) + running.sum(kind);
        }
        return all;
    }

    /** Returns how many files, and bytes of them, are read; -1: it is not known. */
    private long[] readWith(RunningCounts running) {
        int tasks = stageTasks == 0 ? running.stageTasks() : stageTasks;
        // A stage that reads more than this scan has other tasks, too.
        if (splits == null || splits.tasks() < 0 || tasks != 0 && tasks != splits.tasks()) {
            return UNKNOWN;
        }
        BitSet files = new BitSet();
        long bytes = endedTasks.stream().filter(this::isTask).mapToLong(task -> splits.readAll(task, files)).sum();
        for (RunningCounts.Begun begun : running.begun()) {
            if (isTask(begun.task()) && !endedTasks.get(begun.task())) {
                // The last one is being read.
                bytes += splits.read(begun.task(), Math.max(0, begun.splits() - 1), files);
            }
        }
        return new long[] {files.cardinality(), bytes};
    }

    private boolean isTask(int task) {
        return task >= 0 && task < splits.tasks();
    }
}
