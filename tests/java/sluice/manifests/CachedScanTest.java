package sluice.manifests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.manifests.ScannedTables.cached;
import static sluice.manifests.ScannedTables.commit;
import static sluice.manifests.ScannedTables.described;
import static sluice.manifests.ScannedTables.file;
import static sluice.manifests.ScannedTables.report;
import static sluice.manifests.ScannedTables.table;

import java.util.List;
import java.util.Random;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.metrics.ScanMetrics;
import org.apache.iceberg.metrics.ScanReport;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CachedScanTest {

    private static final long ENOUGH = 64 << 20;
    private static final int ROUNDS = 45;

    private final ManifestCache cache = new ManifestCache();

    @BeforeEach
    void bound() {
        cache.keepAtMost(ENOUGH);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void anyFilterSelectsTheFilesThatIcebergSelects(int version) throws Exception {
        Random chosen = new Random(7);
        Table table = table(version);
        int selected = 0;
        for (int round = 0; round < ROUNDS; round++) {
            commit(table, chosen, round);
            for (int query = 0; query < 3; query++) {
                Expression filter = Filters.any(chosen, table.schema());
                boolean isCaseSensitive = chosen.nextBoolean();
                BatchScan plain = table.newBatchScan().caseSensitive(isCaseSensitive).filter(filter);
                BatchScan fromMemory = cached(table, cache).newBatchScan().caseSensitive(isCaseSensitive).filter(filter);
                List<String> expected = described(plain);
                selected += expected.size();
                FilePlanner planner = new FilePlanner(
                    cached(table, cache), table.currentSnapshot(), filter, isCaseSensitive, false);
                assertEquals(expected.size(), planner.plan(ScanMetrics.noop()).tasks().size(), "the scan must not fail over");
                assertEquals(expected, described(fromMemory), () -> filter.toString());
                assertEquals(described(plain.ignoreResiduals()), described(fromMemory.ignoreResiduals()));
            }
        }
        assertTrue(selected > ROUNDS, "the filters select nothing, so nothing is proven");
        assertTrue(hits() > ROUNDS);
    }

    @Test
    void formerSnapshotsAndBranchesHaveTheirOwnFiles() throws Exception {
        Random chosen = new Random(11);
        Table table = table(2);
        for (int round = 0; round < ROUNDS; round++) {
            commit(table, chosen, round);
        }
        table.manageSnapshots().createBranch("dev").commit();
        table.newAppend().appendFile(file(table, chosen, "on-dev")).toBranch("dev").commit();
        table.updateSchema().renameColumn("v", "w").commit();
        table.newAppend().appendFile(file(table, chosen, "last")).commit();
        Expression filter = Expressions.greaterThan("k", 3);
        table.snapshots().forEach(snapshot -> assertEquals(
            described(table.newBatchScan().useSnapshot(snapshot.snapshotId()).filter(filter)),
            described(cached(table, cache).newBatchScan().useSnapshot(snapshot.snapshotId()).filter(filter))));
        List<String> ofBranch = described(table.newBatchScan().useRef("dev").filter(Expressions.alwaysTrue()));
        assertEquals(ofBranch, described(cached(table, cache).newBatchScan().useRef("dev")));
        assertNotEquals(ofBranch, described(cached(table, cache).newBatchScan()));
    }

    @Test
    void aFormerColumnNameIsThatOfItsSnapshot() {
        Table table = table(2);
        table.newAppend().appendFile(file(table, new Random(1), "1")).commit();
        long before = table.currentSnapshot().snapshotId();
        table.updateSchema().renameColumn("v", "w").commit();
        table.newAppend().appendFile(file(table, new Random(2), "2")).commit();
        Expression filter = Expressions.greaterThanOrEqual("v", -1_000L);
        assertEquals(
            described(table.newBatchScan().useSnapshot(before).filter(filter)),
            described(cached(table, cache).newBatchScan().useSnapshot(before).filter(filter)));
    }

    @Test
    void aPartitionColumnMayGetAWiderType() {
        Table table = table(2);
        table.newAppend().appendFile(file(table, "k=3", "1")).commit();
        described(cached(table, cache).newBatchScan().filter(Expressions.lessThan("k", 100)));
        table.updateSchema().updateColumn("k", Types.LongType.get()).commit();
        table.newAppend().appendFile(file(table, "k=5000000000", "2")).commit();
        Expression filter = Expressions.lessThan("k", 1L << 40);
        List<String> expected = described(table.newBatchScan().filter(filter));
        assertEquals(2, expected.size());
        assertEquals(expected, described(cached(table, cache).newBatchScan().filter(filter)));
    }

    @Test
    void rowsOfAnUpgradedTableHaveTheNumbersOfTheirSnapshot() {
        Table table = table(2);
        table.newAppend().appendFile(file(table, "k=1", "1")).commit();
        table.updateProperties().set("format-version", "3").commit();
        table.manageSnapshots().createBranch("dev").commit();
        // Manifests of the earlier version are numbered in the next snapshot of each branch.
        table.newAppend().appendFile(file(table, "k=2", "2")).commit();
        table.newAppend().appendFile(file(table, "k=3", "3")).toBranch("dev").commit();
        table.snapshots().forEach(snapshot -> assertEquals(
            described(table.newBatchScan().useSnapshot(snapshot.snapshotId())),
            described(cached(table, cache).newBatchScan().useSnapshot(snapshot.snapshotId()))));
    }

    @Test
    void aCommitCostsItsListAndItsManifest() {
        Table table = table(2);
        table.updateProperties().set("commit.manifest-merge.enabled", "false").commit();
        for (int at = 0; at < 20; at++) {
            table.newAppend().appendFile(file(table, new Random(at), "file-" + at)).commit();
        }
        assertEquals(20, described(cached(table, cache).newBatchScan()).size());
        long before = misses();
        assertEquals(21, before);
        described(cached(table, cache).newBatchScan());
        assertEquals(before, misses());
        table.newAppend().appendFile(file(table, new Random(20), "file-20")).commit();
        assertEquals(21, described(cached(table, cache).newBatchScan()).size());
        assertEquals(before + 2, misses());
    }

    @Test
    void nothingIsReadASecondTime() {
        Table table = table(2);
        for (int at = 0; at < 5; at++) {
            table.newAppend().appendFile(file(table, new Random(at), "file-" + at)).commit();
        }
        List<String> before = described(cached(table, cache).newBatchScan());
        table.currentSnapshot().allManifests(table.io()).forEach(each -> table.io().deleteFile(each.path()));
        table.io().deleteFile(table.currentSnapshot().manifestListLocation());
        assertEquals(before, described(cached(table, cache).newBatchScan()));
    }

    @Test
    void aManifestThatCannotBeReadFailsAsWithIceberg() {
        Table table = table(2);
        table.newAppend().appendFile(file(table, new Random(1), "1")).commit();
        table.currentSnapshot().allManifests(table.io()).forEach(each -> table.io().deleteFile(each.path()));
        String expected = failureOf(table.newBatchScan());
        assertEquals(expected, failureOf(cached(table, cache).newBatchScan()));
    }

    @Test
    void anotherColumnInAFilterIsLookedUpInItsBounds() {
        Table table = table(2);
        DataFile low = file(table, new Random(1), "low", -5, -1);
        DataFile high = file(table, new Random(2), "high", 1, 5);
        table.newAppend().appendFile(low).appendFile(high).commit();
        assertEquals(2, described(cached(table, cache).newBatchScan().filter(Expressions.lessThan("k", 99))).size());
        Expression above = Expressions.greaterThan("v", 0L);
        assertEquals(1, described(cached(table, cache).newBatchScan().filter(above)).size());
    }

    @Test
    void whatDoesNotFitIsPlannedByIceberg() {
        cache.keepAtMost(50_000);
        Table table = table(2);
        for (int at = 0; at < 30; at++) {
            table.newAppend().appendFile(file(table, new Random(at), "file-" + at)).commit();
        }
        assertEquals(described(table.newBatchScan()), described(cached(table, cache).newBatchScan()));
        assertEquals("1", cache.use().split(" ")[0], "the list of manifests alone is kept");
    }

    @Test
    void aScanWithBoundsIsPlannedByIceberg() throws Exception {
        Table table = table(2);
        table.newAppend().appendFile(file(table, new Random(1), "1")).commit();
        try (CloseableIterable<ScanTask> tasks = cached(table, cache).newBatchScan().includeColumnStats().planFiles()) {
            tasks.forEach(task -> assertNotNull(task.asFileScanTask().file().lowerBounds()));
        }
        assertEquals(0, hits() + misses());
    }

    @Test
    void theReportIsThatOfIceberg() {
        Random chosen = new Random(5);
        Table table = table(2);
        for (int round = 0; round < ROUNDS; round++) {
            commit(table, chosen, round);
        }
        for (int query = 0; query < 20; query++) {
            Expression filter = Filters.any(chosen, table.schema());
            ScanReport expected = report(table.newBatchScan().option("a", "b").filter(filter));
            ScanReport found = report(cached(table, cache).newBatchScan().option("a", "b").filter(filter));
            assertEquals(ScannedTables.counts(expected), ScannedTables.counts(found));
            assertEquals(expected.projectedFieldNames(), found.projectedFieldNames());
            assertEquals(expected.metadata(), found.metadata());
            assertEquals(expected.filter().toString(), found.filter().toString());
        }
    }

    @Test
    void tablesThatPlanInOtherWaysStayAsTheyAre() {
        assertNull(CachedTable.of(table(4), cache, List.of()));
        BaseTable table = (BaseTable) table(2);
        assertNull(CachedTable.of(new BaseTable(table.operations(), "item") {}, cache, List.of()));
        assertNotNull(CachedTable.of(table, cache, List.of()));
        assertFalse(CachedTable.of(table, cache, List.of()).allowDistributedPlanning());
    }

    private static String failureOf(BatchScan scan) {
        try {
            described(scan);
            return "none";
        } catch (RuntimeException failure) {
            return failure.getClass().getName();
        }
    }

    private long hits() {
        return Long.parseLong(cache.use().split(" ")[2]);
    }

    private long misses() {
        return Long.parseLong(cache.use().split(" ")[3]);
    }
}
