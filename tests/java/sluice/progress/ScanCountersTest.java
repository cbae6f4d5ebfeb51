package sluice.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.fixtures.Plans.json;

import java.util.List;
import org.junit.jupiter.api.Test;
import sluice.progress.ScanSplits.TaskSplits;

final class ScanCountersTest {

    /** The first file is cut into two splits, which different tasks read. */
    private static final ScanSplits SPLITS = new ScanSplits(List.of(
        new TaskSplits(new long[] {100, 20}, new int[] {0, 1}),
        new TaskSplits(new long[] {50, 7, 3}, new int[] {0, 2, 3})));

    private final ScanCounters scan = new ScanCounters("BatchScan lake.a.t");
    private final RunningCounts running = new RunningCounts();

    @Test
    void nothingIsKnownWithoutSplits() {
        scan.end(0, 2);
        assertEquals("[-1,-1]", read());
        scan.take(ScanSplits.UNKNOWN);
        assertEquals("[-1,-1]", read());
    }

    @Test
    void nothingIsReadBeforeATaskEnds() {
        scan.take(SPLITS);
        assertEquals("[0,0]", read());
    }

    @Test
    void filesOfEndedTasksAreReadOnce() {
        scan.take(SPLITS);
        scan.end(0, 2);
        assertEquals("[2,120]", read());
        scan.end(0, 2);
        assertEquals("[2,120]", read());
        scan.end(1, 2);
        assertEquals("[4,180]", read());
    }

    @Test
    void theLastSplitOfARunningTaskIsBeingRead() {
        scan.take(SPLITS);
        scan.end(0, 2);
        running.add(MetricKind.SPLITS, 2, 1, 2);
        assertEquals("[2,170]", read());
    }

    @Test
    void aRunningCopyOfAnEndedTaskReadsNothingMore() {
        scan.take(SPLITS);
        scan.end(0, 2);
        running.add(MetricKind.SPLITS, 2, 0, 2);
        assertEquals("[2,120]", read());
    }

    @Test
    void tasksOfAnotherNumberThanThoseOfTheScanAreOfMoreThanIt() {
        scan.take(SPLITS);
        running.add(MetricKind.SPLITS, 2, 1, 3);
        assertEquals("[-1,-1]", read());
        scan.end(0, 2);
        assertEquals("[2,170]", read());
        scan.end(0, 3);
        assertEquals("[-1,-1]", read());
    }

    @Test
    void tasksThatTheScanDoesNotHaveAreLeftOut() {
        scan.take(SPLITS);
        scan.end(-1, 2);
        scan.end(2, 2);
        running.add(MetricKind.SPLITS, 2, 2, 2);
        running.add(MetricKind.SPLITS, 2, -1, 2);
        assertEquals("[0,0]", read());
    }

    @Test
    void sumsIncludeThoseOfRunningTasks() {
        scan.add(MetricKind.ROWS, 5);
        scan.add(MetricKind.ROWS, 2);
        scan.add(MetricKind.RESULT_BYTES, 0);
        running.add(MetricKind.ROWS, 3, 0, 2);
        running.add(MetricKind.FILES, 1, 0, 2);
        assertEquals("[10,-1,-1,0,1,-1]", json(scan.row(running).get(1)));
        assertEquals("[7,-1,-1,0,-1,-1]", json(scan.row(RunningCounts.NONE).get(1)));
    }

    private String read() {
        return json(scan.row(running).get(2));
    }
}
