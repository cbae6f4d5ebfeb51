package sluice.progress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.progress.Events.counted;
import static sluice.progress.Events.stage;
import static sluice.progress.PlanNodes.node;
import static sluice.progress.PlanNodes.scan;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.spark.sql.execution.SparkPlanInfo;
import org.junit.jupiter.api.Test;

/** Spark plans the rest of a query again after each stage. */
final class PlanUpdatesTest {

    private static final String MINE = "0b1f4a52-6a3e-4c11-9d0e-7d5d5b1c0a01";
    private static final SparkPlanInfo LEFT = scan("lake.a.left", 10);
    private static final SparkPlanInfo RIGHT = scan("lake.a.right", 20);
    private static final int SCANS_KEPT = 100;
    private static final int NODES_READ = 10_000;

    private final Events events = new Events();

    @Test
    void eachExchangeBeginsAStage() throws Exception {
        events.startExecution(
            1, node("Join", node("Exchange", LEFT), node("BroadcastExchange", RIGHT), node("ReusedExchange")), MINE);
        assertEquals("[0,0,3]", counters().get("stages").toString());
        events.changePlan(1, node("Join", node("Exchange", LEFT), node("Exchange", RIGHT), node("Exchange")));
        assertEquals("[0,0,4]", counters().get("stages").toString());
    }

    @Test
    void nodesOfCometCountAsThoseThatTheyStandFor() throws Exception {
        SparkPlanInfo ofIceberg = PlanNodes.described(
            "CometIcebergNativeScan",
            "CometIcebergNativeScan [d#1], file:/m.json, IcebergScan(table=lake.a.left, schemaId=0, snapshotId=1), 2",
            "number of file splits processed",
            30);
        SparkPlanInfo ofFiles = PlanNodes.described(
            "CometNativeScan parquet spark_catalog.a.right", "", "number of files read", 40);
        events.startExecution(
            1, node("CometProject", node("CometExchange", ofIceberg), node("CometBroadcastExchange", ofFiles)), MINE);
        assertEquals("[0,0,3]", counters().get("stages").toString());
        assertEquals(List.of("BatchScan lake.a.left", "Scan parquet spark_catalog.a.right"), scans());
        events.reportOfDriver(1, 30, 40);
        events.reportOfDriver(1, 31, 7);
        assertEquals(40, counters().get("scans").get(0).get(1).get(0).asLong());
        assertEquals(7, counters().get("scans").get(0).get(1).get(1).asLong());
    }

    @Test
    void theStagesOfASecondExecutionComeAfterThoseOfTheFirst() throws Exception {
        events.startExecution(1, LEFT, MINE);
        events.startJob(1, MINE, stage(3, 1));
        events.submit(stage(3, 1), MINE);
        events.complete(stage(3, 1));
        events.endJob(1);
        events.startExecution(2, node("Exchange", RIGHT), MINE);
        assertEquals("[1,1,3]", counters().get("stages").toString());
    }

    @Test
    void aScanThatStaysPlannedKeepsItsCounts() throws Exception {
        events.startExecution(1, node("Join", LEFT, RIGHT), MINE);
        events.reportOfDriver(1, 10, 40);
        events.changePlan(1, node("Join", node("ShuffleQueryStage", LEFT), RIGHT));
        assertEquals(List.of("BatchScan lake.a.left", "BatchScan lake.a.right"), scans());
        assertEquals(40, counters().get("scans").get(0).get(1).get(0).asLong());
    }

    @Test
    void aScanThatIsNoLongerPlannedIsDroppedUnlessItHasCounted() throws Exception {
        events.startExecution(1, node("Join", LEFT, RIGHT), MINE);
        events.reportOfDriver(1, 10, 40);
        events.changePlan(1, node("EmptyRelation"));
        assertEquals(List.of("BatchScan lake.a.left"), scans());
        events.reportOfDriver(1, 20, 40);
        assertEquals(List.of("BatchScan lake.a.left"), scans());
        events.changePlan(1, RIGHT);
        assertEquals(List.of("BatchScan lake.a.left", "BatchScan lake.a.right"), scans());
    }

    @Test
    void aReportedCountOfADroppedScanIsLeftOut() throws Exception {
        events.startExecution(1, LEFT, MINE);
        events.startJob(1, MINE, stage(3, 1));
        events.startTask(3, 0);
        events.report(3, 0, counted(10, 40));
        events.changePlan(1, node("EmptyRelation"));
        assertEquals(List.of(), scans());
    }

    @Test
    void aPlanOfAnotherExecutionIsIgnored() throws Exception {
        events.startExecution(1, LEFT, MINE);
        events.changePlan(2, RIGHT);
        assertEquals(List.of("BatchScan lake.a.left"), scans());
    }

    @Test
    void scansBeyondTheBoundAreLeftOut() throws Exception {
        events.startExecution(1, node("Union", scansUpTo(SCANS_KEPT)), MINE);
        assertEquals(SCANS_KEPT, scans().size());
        assertTrue(counters().get("isWhole").asBoolean());
        events.changePlan(1, node("Union", scansUpTo(SCANS_KEPT + 1)));
        assertEquals(SCANS_KEPT, scans().size());
        assertFalse(counters().get("isWhole").asBoolean());
    }

    @Test
    void nodesBeyondTheBoundAreLeftOut() throws Exception {
        SparkPlanInfo[] children = new SparkPlanInfo[NODES_READ];
        Arrays.fill(children, node("Exchange"));
        events.startExecution(1, node("Union", children), MINE);
        assertEquals("[0,0," + NODES_READ + "]", counters().get("stages").toString());
        assertFalse(counters().get("isWhole").asBoolean());
    }

    @Test
    void aQueryIsNotWholeBeforeItsPlanIsKnown() throws Exception {
        events.startJob(1, MINE, stage(3, 1));
        assertFalse(counters().get("isWhole").asBoolean());
        events.startExecution(1, LEFT, MINE);
        assertTrue(counters().get("isWhole").asBoolean());
    }

    private static SparkPlanInfo[] scansUpTo(int count) {
        return LongStream.range(0, count).mapToObj(i -> scan("lake.a.t" + i, 10 * i)).toArray(SparkPlanInfo[]::new);
    }

    private JsonNode counters() throws Exception {
        return events.counters(MINE);
    }

    private List<String> scans() throws Exception {
        List<String> found = new ArrayList<>();
        counters().get("scans").forEach(row -> found.add(row.get(0).asText()));
        return found;
    }
}
