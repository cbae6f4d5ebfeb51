package sluice.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.progress.Events.counted;
import static sluice.progress.Events.stage;
import static sluice.progress.PlanNodes.scan;

import org.apache.spark.ExecutorLostFailure;
import org.apache.spark.TaskEndReason;
import org.apache.spark.UnknownReason$;
import org.apache.spark.scheduler.StageInfo;
import org.junit.jupiter.api.Test;
import scala.Option;

/** Tasks and stages that run more than once. */
final class RetriesTest {

    private static final String MINE = "0b1f4a52-6a3e-4c11-9d0e-7d5d5b1c0a01";
    private static final TaskEndReason LOST = new ExecutorLostFailure("1", false, Option.empty());
    private static final Option<Object> SHUFFLE = Option.apply(5);
    private static final int ROWS = 7;
    private static final int STAGES_KEPT = 2000;

    private final Events events = new Events();

    @Test
    void aTaskThatFailsAndIsTriedAgainIsCountedOnce() throws Exception {
        start(2);
        events.failTask(3, 0, LOST, counted(ROWS, 40));
        assertEquals("[0,1,2]", at("tasks"));
        assertEquals(-1, rows());
        events.startTask(3, 8);
        events.endTask(3, 8, counted(ROWS, 40));
        events.endTask(3, 1, counted(ROWS, 2));
        assertEquals("[2,0,2]", at("tasks"));
        assertEquals(42, rows());
    }

    @Test
    void whatAFailedTaskHasReportedIsNotCounted() throws Exception {
        start(2);
        events.report(3, 0, counted(ROWS, 40));
        assertEquals(40, rows());
        events.failTask(3, 0, UnknownReason$.MODULE$, counted(ROWS, 41));
        assertEquals(-1, rows());
    }

    @Test
    void whatARunningTaskHasReportedIsCountedOnce() throws Exception {
        start(2);
        events.report(3, 0, counted(ROWS, 10));
        events.report(3, 1, counted(ROWS, 3));
        assertEquals(13, rows());
        events.report(3, 0, counted(ROWS, 25));
        assertEquals(28, rows());
        events.endTask(3, 0, counted(ROWS, 40));
        assertEquals(43, rows());
        // A report of a task that has ended comes late.
        events.report(3, 0, counted(ROWS, 40));
        assertEquals(43, rows());
    }

    @Test
    void aCopyOfATaskThatSucceedsTooDoesNotExceedItsStage() throws Exception {
        start(1);
        events.startTask(3, 8);
        events.endTask(3, 0);
        events.endTask(3, 8);
        assertEquals("[1,0,1]", at("tasks"));
    }

    @Test
    void aStageThatRunsAgainRunsOnlyWhatIsMissing() throws Exception {
        StageInfo first = stage(3, 0, 4, SHUFFLE);
        events.startJob(1, MINE, first);
        events.submit(first, MINE);
        events.complete(first);
        assertEquals("[4,0,4]", at("tasks"));
        events.submit(stage(3, 1, 1, SHUFFLE), MINE);
        assertEquals("[3,0,4]", at("tasks"));
        assertEquals("[0,1,0]", at("stages"));
        events.startTask(3, 8);
        events.endTask(3, 8);
        events.complete(stage(3, 1, 1, SHUFFLE));
        assertEquals("[4,0,4]", at("tasks"));
        assertEquals("[1,1,0]", at("stages"));
    }

    @Test
    void aStageThatFailsIsNotDone() throws Exception {
        start(2);
        StageInfo failed = stage(3, 2);
        failed.stageFailed("canceled");
        events.complete(failed);
        assertEquals("[0,2,2]", at("tasks"));
        assertEquals("[0,1,1]", at("stages"));
    }

    @Test
    void aStageWhoseShuffleIsThereIsNotCountedAgain() throws Exception {
        StageInfo made = stage(3, 0, 4, SHUFFLE);
        events.startJob(1, MINE, made);
        events.submit(made, MINE);
        events.complete(made);
        events.endJob(1);
        events.startJob(2, MINE, stage(4, 0, 4, SHUFFLE), stage(5, 1));
        assertEquals("[1,2,0]", at("stages"));
        assertEquals("[4,0,5]", at("tasks"));
        // The shuffle is lost.
        events.submit(stage(4, 0, 4, SHUFFLE), MINE);
        assertEquals("[1,3,0]", at("stages"));
        assertEquals("[4,0,9]", at("tasks"));
    }

    @Test
    void stagesBeyondTheBoundAreNotCounted() throws Exception {
        for (int id = 0; id < STAGES_KEPT + 3; id++) {
            events.startJob(id, MINE, stage(id, 1));
            events.submit(stage(id, 1), MINE);
            events.endJob(id);
        }
        events.submit(stage(STAGES_KEPT + 4, 1), MINE);
        assertEquals("[0," + STAGES_KEPT + ",0]", at("stages"));
    }

    private void start(int tasks) {
        events.startExecution(1, scan("lake.a.t", ROWS), MINE);
        events.startJob(1, MINE, stage(3, tasks));
        events.submit(stage(3, tasks), MINE);
        for (int task = 0; task < tasks; task++) {
            events.startTask(3, task);
        }
    }

    private String at(String name) throws Exception {
        return events.counters(MINE).get(name).toString();
    }

    private long rows() throws Exception {
        return events.counters(MINE).get("scans").get(0).get(1).get(0).asLong();
    }
}
