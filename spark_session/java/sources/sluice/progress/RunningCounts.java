package sluice.progress;

import java.util.ArrayList;
import java.util.List;

/** What the running tasks of a scan have counted so far. */
final class RunningCounts {

    /** Those of a scan without running tasks. */
    static final RunningCounts NONE = new RunningCounts();

    private final long[] sums = new long[MetricKind.COUNT];
    private final List<Begun> begun = new ArrayList<>();
    private int stageTasks = 0;

    /** How many splits of a task have begun. */
    record Begun(int task, int splits) {}

    /** Counts one metric of one task, of a stage with so many tasks. */
    void add(MetricKind kind, long value, int task, int tasks) {
        sums[kind.ordinal()] += value;
        if (kind == MetricKind.SPLITS) {
            begun.add(new Begun(task, (int) value));
            stageTasks = tasks;
        }
    }

    long sum(MetricKind kind) {
        return sums[kind.ordinal()];
    }

    List<Begun> begun() {
        return begun;
    }

    /** Returns the number of tasks of the stage; 0: it is not known. */
    int stageTasks() {
        return stageTasks;
    }
}
