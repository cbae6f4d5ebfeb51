package sluice.manifests;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.manifests.ScannedTables.cached;
import static sluice.manifests.ScannedTables.commit;
import static sluice.manifests.ScannedTables.described;
import static sluice.manifests.ScannedTables.file;
import static sluice.manifests.ScannedTables.partition;
import static sluice.manifests.ScannedTables.table;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.MetadataColumns;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.RowDelta;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.util.ContentFileUtil;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CachedDeletesTest {

    private static final int ROUNDS = 45;
    private static final int VALUE = 2;

    private final ManifestCache cache = new ManifestCache();
    private final Random chosen = new Random(13);
    private Table table = table(2);

    @BeforeEach
    void bound() {
        cache.keepAtMost(64 << 20);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void eachFileHasItsDeletesAsWithIceberg(int version) throws Exception {
        table = table(version);
        int deletes = 0;
        for (int round = 0; round < ROUNDS; round++) {
            commit(table, chosen, round);
            delete(round);
            List<String> expected = described(table.newBatchScan());
            assertEquals(expected, described(cached(table, cache).newBatchScan()));
            deletes += expected.stream().mapToInt(each -> each.endsWith("[]") ? 0 : 1).sum();
        }
        assertTrue(deletes > ROUNDS, "no file has deletes, so nothing is proven");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void aFilterLeavesNoDeleteOut(int version) throws Exception {
        table = table(version);
        int filtered = 0;
        for (int round = 0; round < ROUNDS; round++) {
            commit(table, chosen, round);
            delete(round);
            Expression filter = Filters.any(chosen, table.schema());
            Map<String, Set<String>> expected = deletesOf(table.newBatchScan().filter(filter));
            Map<String, Set<String>> found = deletesOf(cached(table, cache).newBatchScan().filter(filter));
            Map<String, Set<String>> all = deletesOf(table.newBatchScan());
            assertEquals(expected.keySet(), found.keySet());
            found.forEach((file, deletes) -> {
                assertTrue(deletes.containsAll(expected.get(file)));
                assertTrue(all.get(file).containsAll(deletes));
            });
            filtered += found.values().stream().mapToInt(Set::size).sum();
        }
        assertTrue(filtered > ROUNDS);
    }

    @Test
    void aCommitOfDeletesCostsItsListItsManifestAndTheirIndex() {
        table.updateProperties().set("commit.manifest-merge.enabled", "false").commit();
        for (int round = 0; round < 8; round++) {
            table.newAppend().appendFile(file(table, chosen, "file-" + round)).commit();
            table.newRowDelta().addDeletes(equality("delete-" + round)).commit();
        }
        described(cached(table, cache).newBatchScan());
        table.newRowDelta().addDeletes(equality("last")).commit();
        long before = misses();
        List<String> expected = described(table.newBatchScan());
        assertEquals(expected, described(cached(table, cache).newBatchScan()));
        assertEquals(before + 3, misses());
        assertFalse(expected.isEmpty());
    }

    @Test
    void deletesThatDoNotFitArePlannedByIceberg() {
        for (int at = 0; at < 40; at++) {
            table.newRowDelta().addDeletes(equality("delete-" + at)).commit();
        }
        table.newAppend().appendFile(file(table, chosen, "file")).commit();
        cache.keepAtMost(100_000);
        assertEquals(described(table.newBatchScan()), described(cached(table, cache).newBatchScan()));
        assertEquals("1", cache.use().split(" ")[0], "the list of manifests alone is kept");
    }

    @Test
    void theFilesOfAnIndexCount() {
        for (int at = 0; at < 40; at++) {
            table.newRowDelta().addDeletes(equality("delete-" + at)).commit();
        }
        described(cached(table, cache).newBatchScan());
        long before = bytes();
        table.newAppend().appendFile(file(table, chosen, "file")).commit();
        described(cached(table, cache).newBatchScan());
        assertTrue(bytes() - before > 40 * 1600, "each snapshot has an index of its own, which keeps the files");
    }

    private void delete(int round) throws Exception {
        if (round % 3 == 0) {
            table.newRowDelta().addDeletes(equality("equality-" + round)).commit();
        } else if (round % 3 == 1) {
            FileScanTask any = anyFile();
            if (any != null) {
                RowDelta delta = table.newRowDelta()
                    .validateFromSnapshot(table.currentSnapshot().snapshotId())
                    .addDeletes(positions(any.file(), "positions-" + round));
                any.deletes().stream().filter(ContentFileUtil::isDV).forEach(delta::removeDeletes);
                delta.commit();
            }
        }
    }

    private DeleteFile positions(DataFile file, String name) {
        boolean isVector = ((BaseTable) table).operations().current().formatVersion() > 2;
        return isVector ? vector(file, name) : positions(file, name, chosen.nextBoolean());
    }

    /** Returns a deletion vector, whose file may hold others. */
    private DeleteFile vector(DataFile file, String name) {
        return FileMetadata.deleteFileBuilder(table.specs().get(file.specId()))
            .ofPositionDeletes()
            .withPath(table.location() + "/data/" + name + ".puffin")
            .withFormat(FileFormat.PUFFIN)
            .withFileSizeInBytes(90)
            .withPartition(file.partition())
            .withReferencedDataFile(file.location())
            .withContentOffset(4 + chosen.nextInt(9))
            .withContentSizeInBytes(40)
            .withRecordCount(1 + chosen.nextInt(3))
            .build();
    }

    private DeleteFile equality(String name) {
        long low = chosen.nextInt(40) - 20;
        ByteBuffer lower = Conversions.toByteBuffer(Types.LongType.get(), low);
        ByteBuffer upper = Conversions.toByteBuffer(Types.LongType.get(), low + 10);
        return FileMetadata.deleteFileBuilder(table.spec())
            .ofEqualityDeletes(VALUE)
            .withPath(table.location() + "/data/" + name)
            .withFormat(FileFormat.PARQUET)
            .withFileSizeInBytes(50)
            .withPartition(partition(table.spec(), chosen))
            .withMetrics(metrics(VALUE, lower, upper))
            .build();
    }

    /** Returns deletes of rows of a file; with bounds, they say that they are of this file alone. */
    private DeleteFile positions(DataFile file, String name, boolean hasBounds) {
        int path = MetadataColumns.DELETE_FILE_PATH.fieldId();
        ByteBuffer bound = Conversions.toByteBuffer(Types.StringType.get(), file.location());
        return FileMetadata.deleteFileBuilder(table.specs().get(file.specId()))
            .ofPositionDeletes()
            .withPath(table.location() + "/data/" + name)
            .withFormat(FileFormat.PARQUET)
            .withFileSizeInBytes(50)
            .withPartition(file.partition())
            .withMetrics(hasBounds ? metrics(path, bound, bound) : new Metrics(3L, null, null, null, null))
            .build();
    }

    private static Metrics metrics(int column, ByteBuffer lower, ByteBuffer upper) {
        return new Metrics(
            3L, Map.of(), Map.of(column, 3L), Map.of(column, 0L), Map.of(), Map.of(column, lower), Map.of(column, upper));
    }

    private FileScanTask anyFile() throws Exception {
        List<FileScanTask> files = new ArrayList<>();
        try (CloseableIterable<FileScanTask> tasks = table.newScan().planFiles()) {
            tasks.forEach(files::add);
        }
        return files.isEmpty() ? null : files.get(chosen.nextInt(files.size()));
    }

    private static Map<String, Set<String>> deletesOf(BatchScan scan) throws Exception {
        Map<String, Set<String>> found = new TreeMap<>();
        try (CloseableIterable<ScanTask> tasks = scan.planFiles()) {
            for (ScanTask task : tasks) {
                Set<String> deletes = new HashSet<>();
                task.asFileScanTask().deletes().forEach(each -> deletes.add(each.location()));
                found.put(task.asFileScanTask().file().location(), deletes);
            }
        }
        return found;
    }

    private long bytes() {
        return Long.parseLong(cache.use().split(" ")[1]);
    }

    private long misses() {
        return Long.parseLong(cache.use().split(" ")[3]);
    }
}
