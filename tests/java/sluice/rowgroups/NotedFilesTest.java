package sluice.rowgroups;

import static org.apache.iceberg.expressions.Expressions.alwaysTrue;
import static org.apache.iceberg.expressions.Expressions.and;
import static org.apache.iceberg.expressions.Expressions.equal;
import static org.apache.iceberg.expressions.Expressions.in;
import static org.apache.iceberg.expressions.Expressions.lessThan;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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

import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.mapping.MappingUtil;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import sluice.fixtures.Tables;

/** Files of which Iceberg's reader of rows has returned nothing by a filter, and others. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class NotedFilesTest {

    private static final long ENOUGH = 1 << 20;
    /** Between the bounds of each row group, but in no dictionary. */
    private static final Expression ABSENT = equal("word", "bat");

    private final Table table = Tables.table(SCHEMA, PartitionSpec.unpartitioned());
    private final CountedReads reads = new CountedReads();
    private DataFile file;

    @BeforeAll
    void write() throws Exception {
        file = written(table);
    }

    @BeforeEach
    void open() {
        reads.clear();
        reads.open(ENOUGH, true);
    }

    @AfterEach
    void close() {
        reads.open(ENOUGH, false);
        reads.clear();
    }

    @Test
    void aFileIsLeftOutWhenAllOfItsPartsAreKnownToSelectNothing() throws Exception {
        for (Expression filter : List.of(ABSENT, equal("code", "none"), lessThan("k", 0L))) {
            List<FileScanTask> parts = parts(table, file, filter);
            Collections.shuffle(parts, new Random(5));
            assertEquals(GROUPS, parts.size());
            for (FileScanTask part : parts) {
                assertTrue(isRead(file, filter), filter::toString);
                assertEquals(0, rowsOf(table, part));
            }
            assertFalse(isRead(file, filter), filter::toString);
        }
    }

    @Test
    void onePartAloneMayBeTheWholeFile() throws Exception {
        rowsOf(table, task(table, file, ABSENT));
        assertFalse(isRead(file, ABSENT));
        // And again, also by parts.
        rowsOf(table, task(table, file, ABSENT));
        rowsOf(table, parts(table, file, ABSENT).get(3));
        assertFalse(isRead(file, ABSENT));
    }

    @Test
    void aFileOfWhichOnePartSelectsARowGroupIsRead() throws Exception {
        Expression filter = in("word", "bat", WORDS.get(6));
        for (FileScanTask part : parts(table, file, filter)) {
            rowsOf(table, part);
        }
        assertTrue(isRead(file, filter));
        rowsOf(table, task(table, file, filter));
        assertTrue(isRead(file, filter));
    }

    @Test
    void aFileIsLeftOutOnlyIfItsReaderHasReturnedNothing() throws Exception {
        Random chosen = new Random(13);
        int leftOut = 0;
        for (int round = 0; round < 40; round++) {
            Expression filter = anyFilter(chosen);
            boolean isWhole = chosen.nextBoolean();
            List<FileScanTask> tasks = isWhole ? List.of(task(table, file, filter)) : parts(table, file, filter);
            int rows = 0;
            for (FileScanTask task : tasks) {
                rows += rowsOf(table, task);
            }
            assertEquals(rows > 0, isRead(file, filter), filter::toString);
            leftOut += rows > 0 ? 0 : 1;
        }
        assertTrue(leftOut > 5 && leftOut < 35, "the filters leave out nothing or all, so nothing is proven");
    }

    private static Expression anyFilter(Random chosen) {
        int number = chosen.nextInt(2 * GROUP * GROUPS);
        return switch (chosen.nextInt(4)) {
            case 0 -> lessThan("k", (long) number - GROUP * GROUPS);
            case 1 -> equal("code", code(number));
            case 2 -> in("word", "b" + number % 9, chosen.nextBoolean() ? "bat" : WORDS.get(number % GROUPS));
            default -> and(equal("word", WORDS.get(number % GROUPS)), lessThan("k", (long) number));
        };
    }

    @Test
    void anotherFilterFileOrWayToCompareNamesIsNotKnown() throws Exception {
        rowsOf(table, task(table, file, ABSENT));
        assertTrue(isRead(file, equal("word", "bats")));
        assertTrue(isRead(file, and(ABSENT, lessThan("k", 9L))));
        assertTrue(isRead(file, alwaysTrue()));
        DataFile another = DataFiles.builder(table.spec()).copy(file).withPath(file.location() + "2").build();
        assertTrue(isRead(another, ABSENT));
        DataFile longer =
            DataFiles.builder(table.spec()).copy(file).withFileSizeInBytes(file.fileSizeInBytes() + 1).build();
        assertTrue(isRead(longer, ABSENT));
        DataFile ofAnotherFormat = DataFiles.builder(table.spec()).copy(file).withFormat("avro").build();
        assertTrue(isRead(ofAnotherFormat, ABSENT));
        assertTrue(NotedFiles.of(SCHEMA, false).mayHaveRows(file, () -> ABSENT));
        assertTrue(NotedFiles.none().mayHaveRows(file, () -> ABSENT));
        assertFalse(isRead(file, ABSENT));
    }

    @Test
    void columnsAreThoseOfTheFileWhateverTheirNames() throws Exception {
        rowsOf(table, task(table, file, lessThan("k", 0L)));
        rowsOf(table, task(table, file, ABSENT));
        assertFalse(isRead(file, equal("wort", "bat"), field(2, "wort", true, Types.StringType.get())));
        assertTrue(isRead(file, ABSENT, field(5, "word", true, Types.StringType.get())));
        assertTrue(isRead(file, ABSENT, field(2, "word", false, Types.StringType.get())));
        assertTrue(isRead(file, lessThan("k", 0L), field(1, "k", false, Types.IntegerType.get())));
        assertTrue(isRead(file, lessThan("k", 0L), field(1, "other", false, Types.LongType.get())));
    }

    private static NestedField field(int id, String name, boolean isOptional, org.apache.iceberg.types.Type type) {
        return NestedField.of(id, isOptional, name, type);
    }

    @Test
    void aMappingOfNamesMayChangeWhatAFilterSelects() throws Exception {
        rowsOf(table, task(table, file, ABSENT), MappingUtil.create(SCHEMA));
        assertTrue(isRead(file, ABSENT));
    }

    @Test
    void aNameThatNobodyHasDrawnMayBeThatOfTwoFiles() throws Exception {
        DataFile numbered = written(table, "part-00000.parquet");
        rowsOf(table, task(table, numbered, ABSENT));
        assertTrue(isRead(numbered, ABSENT));
        // A folder may have any number of files.
        DataFile inFolder = written(table, "0b7ff1a2-7f5e-4d6c-9a57-3d1c6e20b794/part-00000.parquet");
        rowsOf(table, task(table, inFolder, ABSENT));
        assertTrue(isRead(inFolder, ABSENT));
    }

    @Test
    void whatIsForgottenIsRead() throws Exception {
        rowsOf(table, task(table, file, ABSENT));
        reads.open(3_000, true);
        for (long end = 1; end < 15; end++) {
            rowsOf(table, task(table, file, lessThan("k", end)));
        }
        assertTrue(isRead(file, ABSENT));
        rowsOf(table, task(table, file, ABSENT));
        assertFalse(isRead(file, ABSENT));
        reads.clear();
        assertTrue(isRead(file, ABSENT));
    }

    @Test
    void unlessItIsWantedNothingIsNotedNorLeftOut() throws Exception {
        rowsOf(table, task(table, file, ABSENT));
        reads.open(ENOUGH, false);
        assertTrue(isRead(file, ABSENT));
        reads.clear();
        rowsOf(table, task(table, file, ABSENT));
        assertEquals("1", reads.use().split(" ")[0]);
        reads.open(ENOUGH, true);
        assertTrue(isRead(file, ABSENT));
        reads.open(0, true);
        rowsOf(table, task(table, file, ABSENT));
        assertTrue(isRead(file, ABSENT));
    }

    @Test
    void howManyAreLeftOutIsCounted() throws Exception {
        rowsOf(table, task(table, file, ABSENT));
        NotedFiles noted = NotedFiles.of(SCHEMA, true);
        assertEquals(0, noted.leftOut());
        noted.mayHaveRows(file, () -> ABSENT);
        noted.mayHaveRows(file, () -> ABSENT);
        DataFile another = DataFiles.builder(table.spec()).copy(file).withPath(file.location() + "2").build();
        noted.mayHaveRows(another, () -> ABSENT);
        assertEquals(2, noted.leftOut());
    }

    @Test
    void aRestThatCannotBeMadeIsNotKnown() throws Exception {
        rowsOf(table, task(table, file, ABSENT));
        assertTrue(NotedFiles.of(SCHEMA, true).mayHaveRows(file, () -> {
            throw new IllegalStateException();
        }));
    }

    private static boolean isRead(DataFile file, Expression filter) {
        return NotedFiles.of(SCHEMA, true).mayHaveRows(file, () -> filter);
    }

    private static boolean isRead(DataFile file, Expression filter, NestedField... columns) {
        return NotedFiles.of(new Schema(columns), true).mayHaveRows(file, () -> filter);
    }
}
