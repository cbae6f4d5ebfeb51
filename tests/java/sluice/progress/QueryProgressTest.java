package sluice.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static sluice.progress.Events.counted;
import static sluice.progress.Events.stage;
import static sluice.progress.PlanNodes.node;
import static sluice.progress.PlanNodes.scan;

import java.util.UUID;
import org.junit.jupiter.api.Test;

final class QueryProgressTest {

    private static final String MINE = "0b1f4a52-6a3e-4c11-9d0e-7d5d5b1c0a01";
    private static final String OTHER = "0b1f4a52-6a3e-4c11-9d0e-7d5d5b1c0a02";
    private static final int RUNS_KEPT = 1000;
    private static final int ROWS = 7;
    private static final int FILES = 9;

    private final Events events = new Events();

    @Test
    void theJsonIsThatOfTheCounters() throws Exception {
        events.startExecution(1, scan("lake.a.t", ROWS), MINE);
        events.startJob(1, MINE, stage(3, 2));
        events.submit(stage(3, 2), MINE);
        events.startTask(3, 0);
        events.endTask(3, 0, counted(ROWS, 40));
        String expected = "{\"scans\":[[\"BatchScan lake.a.t\",[40,-1,-1,-1,-1,-1],[-1,-1]]],"
            + "\"stages\":[0,1,1],\"isWhole\":true,\"tasks\":[1,0,2]}";
        assertEquals("{\"" + MINE + "\":" + expected + "}", events.progress.progress(MINE + "," + OTHER));
    }

    @Test
    void aQueryThatHasNotBegunHasNoCounters() throws Exception {
        assertEquals("{}", events.progress.progress(MINE));
    }

    @Test
    void countersGrowWithTheQuery() throws Exception {
        events.startJob(1, MINE, stage(3, 2), stage(4, 1));
        assertEquals("[0,2,0]", at("stages"));
        assertEquals("[0,0,3]", at("tasks"));
        events.submit(stage(3, 2), MINE);
        events.startTask(3, 0);
        events.startTask(3, 1);
        assertEquals("[0,2,3]", at("tasks"));
        events.endTask(3, 0);
        events.endTask(3, 1);
        events.complete(stage(3, 2));
        assertEquals("[1,2,0]", at("stages"));
        assertEquals("[2,0,3]", at("tasks"));
    }

    @Test
    void theSumsOfAJobAreKeptWhenItEnds() throws Exception {
        run(1, 3, 2);
        run(2, 4, 1);
        assertEquals("[2,2,0]", at("stages"));
        assertEquals("[3,0,3]", at("tasks"));
    }

    @Test
    void theTasksThatAFailedJobHasNotRunAreNotCounted() throws Exception {
        events.startJob(1, MINE, stage(3, 5), stage(4, 8));
        events.submit(stage(3, 5), MINE);
        events.startTask(3, 0);
        events.endTask(3, 0);
        events.startTask(3, 1);
        events.endJob(1);
        // One of its tasks still runs.
        assertEquals("[1,1,5]", at("tasks"));
        events.endTask(3, 1);
        assertEquals("[2,0,2]", at("tasks"));
        assertEquals("[0,1,0]", at("stages"));
    }

    @Test
    void theSameStageOfASecondJobIsOneStage() throws Exception {
        events.startJob(1, MINE, stage(3, 2));
        events.startJob(2, MINE, stage(3, 2));
        events.endJob(1);
        assertEquals("[0,1,0]", at("stages"));
        assertEquals("[0,0,2]", at("tasks"));
    }

    @Test
    void theFirstTagThatIsAnIdNamesTheQuery() throws Exception {
        events.startJob(1, "spark-session-1," + MINE + "," + OTHER, stage(3, 2));
        assertEquals("[0,0,2]", at("tasks"));
        assertNull(events.counters(OTHER));
    }

    @Test
    void jobsOfOthersAndWithoutAnIdAreNotCounted() throws Exception {
        events.startJob(1, MINE, stage(3, 2));
        events.startJob(2, OTHER, stage(4, 7));
        events.startJob(3, "heartbeat", stage(5, 7));
        events.startJob(4, null, stage(6, 7));
        events.startExecution(9, scan("lake.a.t", ROWS), "heartbeat");
        for (int stage : new int[] {4, 5, 6}) {
            events.submit(stage(stage, 7), "heartbeat");
            events.startTask(stage, stage);
        }
        assertEquals("[0,0,2]", at("tasks"));
        assertEquals("[]", at("scans"));
        assertEquals(2, events.progress.size());
    }

    @Test
    void forgottenQueriesHaveNoCounters() throws Exception {
        events.startExecution(1, scan("lake.a.t", ROWS), MINE);
        events.startJob(1, MINE, stage(3, 2));
        events.startJob(2, OTHER, stage(4, 2));
        events.progress.forget(MINE + ",unknown");
        assertNull(events.counters(MINE));
        assertNotNull(events.counters(OTHER));
        assertEquals(1, events.progress.size());
        // What still runs of it makes no counters.
        events.startTask(3, 0);
        events.endTask(3, 0, counted(ROWS, 40));
        events.changePlan(1, scan("lake.a.t", ROWS));
        events.endJob(1);
        events.endExecution(1);
        assertNull(events.counters(MINE));
    }

    @Test
    void aMetricOfAForgottenQueryIsFreeForOthers() throws Exception {
        events.startExecution(1, scan("lake.a.t", ROWS), OTHER);
        events.progress.forget(OTHER);
        events.startExecution(2, scan("lake.a.t", ROWS), MINE);
        assertEquals(1, events.counters(MINE).get("scans").size());
    }

    @Test
    void aQueryWithoutJobsLeavesNothing() {
        events.startExecution(1, node("LocalTableScan"), MINE);
        assertEquals(1, events.progress.size());
        events.endExecution(1);
        assertEquals(0, events.progress.size());
    }

    @Test
    void theCountersOfAQueryWithJobsAreKeptWhenItEnds() throws Exception {
        events.startExecution(1, scan("lake.a.t", ROWS), MINE);
        run(1, 3, 2);
        events.endExecution(1);
        assertEquals("[2,0,2]", at("tasks"));
    }

    @Test
    void theOldestOfTooManyQueriesMakesRoom() throws Exception {
        events.startJob(0, MINE, stage(0, 2));
        for (int other = 1; other <= RUNS_KEPT; other++) {
            events.startJob(other, new UUID(1, other).toString(), stage(other, 2));
        }
        assertEquals(RUNS_KEPT, events.progress.size());
        assertNull(events.counters(MINE));
        assertFalse(events.counters(new UUID(1, 1).toString()).isEmpty());
        events.startTask(0, 0);
        assertNull(events.counters(MINE));
    }

    @Test
    void theDriverCountsFilesBeforeTheFirstTask() throws Exception {
        events.startExecution(1, scan("lake.a.t", ROWS), MINE);
        events.reportOfDriver(1, FILES, 12);
        events.reportOfDriver(1, 1_000_000, 12);
        assertEquals("[[\"BatchScan lake.a.t\",[-1,-1,12,-1,-1,-1],[-1,-1]]]", at("scans"));
    }

    private void run(int job, int stage, int tasks) {
        events.startJob(job, MINE, stage(stage, tasks));
        events.submit(stage(stage, tasks), MINE);
        for (int task = 0; task < tasks; task++) {
            events.startTask(stage, task);
            events.endTask(stage, task);
        }
        events.complete(stage(stage, tasks));
        events.endJob(job);
    }

    private String at(String name) throws Exception {
        return events.counters(MINE).get(name).toString();
    }
}
