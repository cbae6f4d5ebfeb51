package sluice.manifests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static sluice.manifests.ScannedTables.cached;
import static sluice.manifests.ScannedTables.commit;
import static sluice.manifests.ScannedTables.described;
import static sluice.manifests.ScannedTables.file;
import static sluice.manifests.ScannedTables.planned;
import static sluice.manifests.ScannedTables.table;

import java.util.List;
import java.util.Random;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestWriter;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.StaticTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.inmemory.InMemoryCatalog;
import org.apache.iceberg.types.Types;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tables that share a UUID, and tables that change between their loading and their scan. */
final class CachedStatesTest {

    private static final int ROUNDS = 45;

    private final ManifestCache cache = new ManifestCache();

    @BeforeEach
    void bound() {
        cache.keepAtMost(64 << 20);
    }

    @Test
    void aCopyWithTheSameSnapshotHasItsOwnFiles() {
        Table first = table(2);
        first.newAppend().appendFile(file(first, new Random(1), "first")).commit();
        Table other = table(2);
        other.newAppend().appendFile(file(other, new Random(1), "copied")).commit();
        String json = TableMetadataParser.toJson(metadata(other))
            .replace(metadata(other).uuid(), metadata(first).uuid())
            .replace(":" + idOf(other), ":" + idOf(first));
        Table copy = new BaseTable(
            new StaticTableOperations(TableMetadataParser.fromJson("/copy.metadata.json", json), other.io()), "copy");
        assertEquals(idOf(first), idOf(copy));
        described(cached(first, cache).newBatchScan());
        List<String> expected = described(copy.newBatchScan());
        assertNotEquals(expected, described(first.newBatchScan()));
        assertEquals(expected, described(cached(copy, cache).newBatchScan()));
    }

    @Test
    void tablesFromTheSameMetadataHaveTheirOwnTypes() {
        InMemoryCatalog catalog = ScannedTables.catalog();
        Table first = table(catalog, 2);
        first.newAppend().appendFile(file(first, "k=3", "1")).commit();
        TableIdentifier name = TableIdentifier.of("shop", "again");
        Table again = catalog.registerTable(name, metadata(first).metadataFileLocation());
        first.updateSchema().updateColumn("k", Types.LongType.get()).commit();
        again.updateSchema().addColumn("more", Types.LongType.get()).commit();
        assertEquals(first.schema().schemaId(), again.schema().schemaId());
        described(cached(first, cache).newBatchScan());
        List<String> expected = planned(again.newBatchScan()).stream().map(CachedStatesTest::typeOf).toList();
        BatchScan scan = cached(again, cache).newBatchScan();
        List<String> found = planned(scan).stream().map(CachedStatesTest::typeOf).toList();
        assertEquals(expected, found);
    }

    private static String typeOf(DataFile file) {
        return file.partition().get(0, Object.class).getClass().getSimpleName();
    }

    @Test
    void aManifestThatIsListedTwiceIsReadOnce() throws Exception {
        Table table = table(2);
        ManifestWriter<DataFile> writer = ManifestFiles.write(
            2, table.spec(), table.io().newOutputFile(table.location() + "/metadata/twice.avro"), null);
        try (writer) {
            writer.add(file(table, new Random(1), "1"));
        }
        ManifestFile manifest = writer.toManifestFile();
        table.newFastAppend().appendManifest(manifest).appendManifest(manifest).commit();
        assertEquals(2, table.currentSnapshot().dataManifests(table.io()).size());
        assertEquals(1, described(table.newBatchScan()).size());
        assertEquals(1, described(cached(table, cache).newBatchScan()).size());
    }

    @Test
    void aRefreshBeforeTheScanChangesNoColumn() {
        InMemoryCatalog catalog = ScannedTables.catalog();
        Table table = table(catalog, 2);
        table.newAppend()
            .appendFile(file(table, new Random(1), "low", -5, -1))
            .appendFile(file(table, new Random(2), "high", 1, 5))
            .commit();
        table.updateSchema().addColumn("w", Types.LongType.get()).commit();
        table.newAppend().appendFile(file(table, new Random(3), "last", 1, 5)).commit();
        long before = idOf(table);
        CachedTable loaded = cached(table, cache);
        Expression filter = Expressions.greaterThan("v", 0L);
        List<String> expected = described(table.newBatchScan().useSnapshot(before).filter(filter));
        Table elsewhere = catalog.loadTable(TableIdentifier.of("shop", "item"));
        elsewhere.updateSchema().renameColumn("v", "x").renameColumn("w", "v").commit();
        elsewhere.newAppend().appendFile(file(elsewhere, new Random(4), "later")).commit();
        table.refresh();
        List<String> found = described(loaded.newBatchScan().useSnapshot(before).filter(filter));
        assertEquals(locations(expected), locations(found));
    }

    private static List<String> locations(List<String> described) {
        return described.stream().map(each -> each.split(" ", 2)[0]).toList();
    }

    @Test
    void aPartitionColumnMayBeDropped() {
        Table table = table(2);
        table.newAppend().appendFile(file(table, "k=3", "1")).appendFile(file(table, "k=4", "2")).commit();
        table.updateSpec().removeField("k").addField("day").commit();
        table.updateSchema().deleteColumn("k").commit();
        for (int at = 0; at < 3; at++) {
            table.newAppend().appendFile(file(table, new Random(at), "after-" + at)).commit();
        }
        Expression filter = Expressions.greaterThan("v", -100L);
        for (Snapshot snapshot : table.snapshots()) {
            long id = snapshot.snapshotId();
            assertEquals(
                described(table.newBatchScan().useSnapshot(id).filter(filter)),
                described(cached(table, cache).newBatchScan().useSnapshot(id).filter(filter)));
        }
        assertEquals(described(table.newBatchScan()), described(cached(table, cache).newBatchScan()));
    }

    @Test
    void tablesOfTheFirstVersionHaveTheSameFiles() {
        Random chosen = new Random(17);
        Table table = table(1);
        for (int round = 0; round < ROUNDS; round++) {
            commit(table, chosen, round);
            Expression filter = Filters.any(chosen, table.schema());
            assertEquals(
                described(table.newBatchScan().filter(filter)),
                described(cached(table, cache).newBatchScan().filter(filter)));
        }
    }

    private static TableMetadata metadata(Table table) {
        return ((BaseTable) table).operations().current();
    }

    private static long idOf(Table table) {
        return table.currentSnapshot().snapshotId();
    }

    @Test
    void aRollbackHasTheFilesOfItsSnapshot() {
        Table table = table(2);
        table.newAppend().appendFile(file(table, new Random(1), "1")).commit();
        long before = idOf(table);
        table.updateSchema().renameColumn("v", "w").commit();
        table.newAppend().appendFile(file(table, new Random(2), "2")).commit();
        described(cached(table, cache).newBatchScan());
        table.manageSnapshots().rollbackTo(before).commit();
        Expression filter = Expressions.greaterThan("w", -100L);
        List<String> expected = described(table.newBatchScan().useSnapshot(before).filter(filter));
        assertEquals(1, expected.size());
        assertEquals(expected, described(cached(table, cache).newBatchScan().useSnapshot(before).filter(filter)));
        table.newAppend().appendFile(file(table, new Random(3), "3")).commit();
        assertEquals(
            described(table.newBatchScan().filter(filter)),
            described(cached(table, cache).newBatchScan().filter(filter)));
    }
}
