package sluice.rowgroups;

import static org.apache.iceberg.expressions.Expressions.alwaysTrue;
import static org.apache.iceberg.expressions.Expressions.and;
import static org.apache.iceberg.expressions.Expressions.equal;
import static org.apache.iceberg.expressions.Expressions.greaterThanOrEqual;
import static org.apache.iceberg.expressions.Expressions.in;
import static org.apache.iceberg.expressions.Expressions.isNull;
import static org.apache.iceberg.expressions.Expressions.lessThan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.fixtures.GroupedFiles.GROUP;
import static sluice.fixtures.GroupedFiles.GROUPS;
import static sluice.fixtures.GroupedFiles.SCHEMA;
import static sluice.fixtures.GroupedFiles.WORDS;
import static sluice.fixtures.GroupedFiles.code;
import static sluice.fixtures.GroupedFiles.parts;
import static sluice.fixtures.GroupedFiles.rowsOf;
import static sluice.fixtures.GroupedFiles.task;
import static sluice.fixtures.GroupedFiles.written;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.iceberg.BaseScanTaskGroup;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.iceberg.Table;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.mapping.MappingUtil;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import sluice.fixtures.Tables;

/** Reads files of several row groups by Iceberg's reader of rows, and compares the count with the rows that come. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CountedReadsTest {

    private static final long ENOUGH = 1 << 20;

    private final Table table = Tables.table(SCHEMA, PartitionSpec.unpartitioned());
    private final CountedReads reads = new CountedReads();
    private DataFile file;

    @BeforeAll
    void write() throws Exception {
        file = written(table);
    }

    @BeforeEach
    void open() {
        reads.open(ENOUGH, false);
    }

    @AfterEach
    void forget() {
        reads.open(ENOUGH, false);
        reads.clear();
    }

    @Test
    void theCountIsThatOfTheRowsThatAreRead() throws Exception {
        Map<Expression, Integer> expected = new HashMap<>();
        expected.put(lessThan("k", 250L), 3);
        expected.put(and(greaterThanOrEqual("k", 100L), lessThan("k", 200L)), 1);
        expected.put(equal("word", "cat"), 1);
        expected.put(in("word", "cat", "hen"), 2);
        expected.put(equal("word", "bat"), 0);
        expected.put(equal("code", code(5)), 1);
        expected.put(in("code", Set.of(code(5), code(705))), 2);
        expected.put(isNull("code"), 0);
        expected.put(greaterThanOrEqual("k", 0L), GROUPS);
        expected.put(alwaysTrue(), GROUPS);
        for (Map.Entry<Expression, Integer> each : expected.entrySet()) {
            FileScanTask task = task(table, file, each.getKey());
            assertEquals(each.getValue() * GROUP, rowsOf(table, task), () -> each.getKey().toString());
            assertEquals(each.getValue().longValue(), selected(task), () -> each.getKey().toString());
        }
    }

    @Test
    void anyFilterIsCountedInEachPartOfAFile() throws Exception {
        Random chosen = new Random(3);
        long some = 0;
        for (int round = 0; round < 10; round++) {
            Expression filter = anyFilter(chosen);
            List<FileScanTask> parts = parts(table, file, filter);
            assertTrue(parts.size() > 1);
            long rows = 0;
            for (FileScanTask part : parts) {
                rows += rowsOf(table, part);
            }
            long selected = selected(parts.toArray(new FileScanTask[0]));
            assertEquals(rows, selected * GROUP, filter::toString);
            some += selected > 0 && selected < GROUPS ? 1 : 0;
        }
        assertTrue(some > 3, "the filters leave out nothing or all, so nothing is proven");
    }

    @Test
    void aPartThatHasNotBeenReadIsNotKnown() throws Exception {
        Expression filter = lessThan("k", 250L);
        List<FileScanTask> parts = parts(table, file, filter);
        rowsOf(table, parts.get(0));
        assertEquals(-1, selected(parts.toArray(new FileScanTask[0])));
        DataFile another = DataFiles.builder(table.spec()).copy(file).withPath(file.location() + "2").build();
        assertEquals(-1, selected(parts(table, another, filter).get(0)));
        // Nor by another filter.
        assertEquals(-1, selected(parts(table, file, lessThan("k", 251L)).get(0)));
        assertEquals(1, selected(parts.get(0)));
    }

    @Test
    void withoutAFilterTheMetadataSayIt() throws Exception {
        assertEquals(GROUPS, selected(task(table, file, alwaysTrue())));
        List<FileScanTask> parts = parts(table, file, alwaysTrue());
        assertEquals(GROUPS, selected(parts.toArray(new FileScanTask[0])));
        assertEquals(1, selected(parts.get(1)));
        assertEquals("0 0", reads.use().substring(0, 3));
    }

    @Test
    void metadataThatDoNotNameEachRowGroupAreNotBelieved() throws Exception {
        Expression filter = lessThan("k", 250L);
        DataFile coarse = DataFiles.builder(table.spec()).copy(file).withSplitOffsets(List.of(4L)).build();
        DataFile silent = DataFiles.builder(table.spec()).copy(file).withSplitOffsets(null).build();
        for (DataFile each : List.of(coarse, silent)) {
            FileScanTask task = task(table, each, filter);
            assertEquals(3 * GROUP, rowsOf(table, task));
            assertEquals(-1, selected(task));
        }
        assertEquals(-1, selected(task(table, silent, alwaysTrue())));
        assertEquals(3, selected(task(table, file, filter)));
    }

    @Test
    void aMappingOfNamesMayChangeWhatAFilterSelects() throws Exception {
        FileScanTask task = task(table, file, lessThan("k", 250L));
        assertEquals(3 * GROUP, rowsOf(table, task, MappingUtil.create(SCHEMA)));
        assertEquals(-1, selected(task));
    }

    @Test
    void filesOfOtherFormatsHaveNone() throws Exception {
        assertEquals(-1, selected(task(table, Tables.file(table, "", "1.avro"), alwaysTrue())));
        assertEquals(0, selected());
    }

    @Test
    void theMemoryIsBounded() throws Exception {
        reads.open(4_000, false);
        for (long end = 1; end < 15; end++) {
            rowsOf(table, task(table, file, lessThan("k", end)));
        }
        String[] use = reads.use().split(" ");
        assertTrue(Long.parseLong(use[0]) < 8 && Long.parseLong(use[1]) <= 4_000, reads.use());
        assertEquals(-1, selected(task(table, file, lessThan("k", 1L))));
        assertEquals(1, selected(task(table, file, lessThan("k", 14L))));
        reads.open(0, false);
        assertEquals(3 * GROUP, rowsOf(table, task(table, file, lessThan("k", 250L))));
        assertEquals(-1, selected(task(table, file, lessThan("k", 250L))));
    }

    private Expression anyFilter(Random chosen) {
        Expression range = lessThan("k", (long) chosen.nextInt(GROUP * GROUPS));
        return switch (chosen.nextInt(4)) {
            case 0 -> range;
            case 1 -> in("word", WORDS.get(chosen.nextInt(GROUPS)), "bat", WORDS.get(chosen.nextInt(GROUPS)));
            case 2 -> in("code", code(chosen.nextInt(GROUP * GROUPS)), code(-1));
            default -> and(range, equal("word", WORDS.get(chosen.nextInt(GROUPS))));
        };
    }

    private long selected(FileScanTask... tasks) {
        List<ScanTaskGroup<?>> groups = new ArrayList<>();
        for (FileScanTask task : tasks) {
            groups.add(new BaseScanTaskGroup<>(List.of(task)));
        }
        return ScanRowGroups.selectedOf(SCHEMA, groups);
    }
}
