package sluice.progress;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/** What one scan of a running query has read so far. QueryProgress keeps it, under its lock. */
public final class ScanCounters {
    /** The descriptions of metrics that Spark and Iceberg have for each scan; the index is the place of its sum. */
    private static final String[] METRICS = {
        "number of output rows",
        "number of file splits read",
        "number of result data files",
        "total data file size (bytes)",
        // Spark's own scans of files.
        "number of files read",
        "size of files read",
    };
    private static final int SPLITS = 1;

    /** The name of its node in the plan. */
    public final String node;
    /** The ids of its metrics. */
    public final List metrics = new ArrayList();
    /** What its tasks read; null: it is not known, or not yet. */
    public ScanSplits splits = null;
    /** Whether it is in the plan that Spark follows now. */
    public boolean isPlanned = true;
    /** Whether anything of it has been counted. */
    public boolean hasCounted = false;

    /** By the place of the metric; -1: it has not been counted. */
    private final long[] sums = new long[METRICS.length];
    private final BitSet endedTasks = new BitSet();
    /** The number of tasks of its stages; -1: these differ. */
    private int stageTasks = 0;

    public ScanCounters(String node) {
        this.node = node;
        Arrays.fill(sums, -1L);
    }

    /** Returns the place of a metric by its description; -1 for those of no interest. */
    public static int placeOf(String description) {
        return Arrays.asList(METRICS).indexOf(description);
    }

    /** Counts what a task, or the driver, reports at its end. */
    public void add(int place, long value) {
        hasCounted = true;
        sums[place] = Math.max(sums[place], 0) + value;
    }

    /** Notes that a task of a stage with so many tasks has read all that it had to. */
    public void end(int task, int tasks) {
        stageTasks = stageTasks == 0 || stageTasks == tasks ? tasks : -1;
        if (task >= 0) {
            endedTasks.set(task);
        }
    }

    /** Returns the sums by the places of their metrics, with those of running tasks; -1: not counted yet. */
    public long[] sumsWith(Running running) {
        long[] all = (long[]) sums.clone();
        for (int i = 0; running != null && i < all.length; i++) {
            all[i] = running.sums[i] == 0 ? all[i] : Math.max(all[i], 0) + running.sums[i];
        }
        return all;
    }

    /** Returns how many files, and bytes of them, are read; -1: it is not known. */
    public long[] readWith(Running running) {
        int tasks = stageTasks == 0 && running != null ? running.stageTasks : stageTasks;
        // A stage that reads more than this scan has other tasks, too.
        if (splits == null || splits.tasks() < 0 || tasks != 0 && tasks != splits.tasks()) {
            return new long[] {-1, -1};
        }
        BitSet files = new BitSet();
        long bytes = 0;
        for (int i = endedTasks.nextSetBit(0); i >= 0 && i < splits.tasks(); i = endedTasks.nextSetBit(i + 1)) {
            bytes += splits.read(i, -1, files);
        }
        for (int i = 0; running != null && i < running.begun.size(); i++) {
            int[] begun = (int[]) running.begun.get(i);
            if (begun[0] >= 0 && begun[0] < splits.tasks() && !endedTasks.get(begun[0])) {
                // The last one is being read.
                bytes += splits.read(begun[0], Math.max(0, begun[1] - 1), files);
            }
        }
        return new long[] {files.cardinality(), bytes};
    }

    /** What the running tasks of a scan have counted so far. */
    public static final class Running {
        private final long[] sums = new long[METRICS.length];
        /** Pairs of a task and the number of its splits that have begun. */
        private final List begun = new ArrayList();
        private int stageTasks = 0;

        /** Counts one metric of one task, of a stage with so many tasks. */
        public void add(int place, long value, int task, int tasks) {
            sums[place] += value;
            if (place == SPLITS) {
                begun.add(new int[] {task, (int) value});
                stageTasks = tasks;
            }
        }
    }
}
