package sluice.progress;

import java.util.BitSet;
import java.util.List;

/** What each task of an Iceberg scan reads, in its order: splits of files, with their bytes. */
final class ScanSplits {

    /** What a scan reads whose tasks cannot be told apart by their files. */
    static final ScanSplits UNKNOWN = new ScanSplits(null);

    private final List<TaskSplits> tasks;

    /** The bytes of the splits of one task, and the numbers of their files. */
    record TaskSplits(long[] bytes, int[] files) {}

    ScanSplits(List<TaskSplits> tasks) {
        this.tasks = tasks;
    }

    /** Returns the number of tasks; -1: it is not known. */
    int tasks() {
        return tasks == null ? -1 : tasks.size();
    }

    /** Adds the files of all splits of a task to `filesRead`, and returns their bytes. */
    long readAll(int task, BitSet filesRead) {
        return read(task, tasks.get(task).bytes.length, filesRead);
    }

    /** Adds the files of the first splits of a task to `filesRead`, and returns their bytes. */
    long read(int task, int splits, BitSet filesRead) {
        TaskSplits ofTask = tasks.get(task);
        long sum = 0;
        for (int i = 0; i < Math.min(splits, ofTask.bytes.length); i++) {
            sum += ofTask.bytes[i];
            filesRead.set(ofTask.files[i]);
        }
        return sum;
    }
}
