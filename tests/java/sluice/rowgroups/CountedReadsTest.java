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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.iceberg.BaseFileScanTask;
import org.apache.iceberg.BaseScanTaskGroup;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SchemaParser;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.GenericParquetWriter;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.ResidualEvaluator;
import org.apache.iceberg.formats.FormatModelRegistry;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.mapping.MappingUtil;
import org.apache.iceberg.mapping.NameMapping;
import org.apache.iceberg.parquet.Parquet;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.apache.spark.sql.catalyst.InternalRow;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import sluice.fixtures.Tables;

/** Reads files of several row groups by Iceberg's reader of rows, and compares the count with the rows that come. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CountedReadsTest {

    private static final int GROUP = 100;
    private static final int GROUPS = 8;
    private static final long ENOUGH = 1 << 20;
    private static final String[] WORDS = {"ant", "bee", "cat", "dog", "eel", "fox", "gnu", "hen"};

    /** `k` is in order, `word` has one value between equal bounds in each row group, and `code` is spread. */
    private final Schema schema = new Schema(
        NestedField.required(1, "k", Types.LongType.get()),
        NestedField.optional(2, "word", Types.StringType.get()),
        NestedField.optional(3, "code", Types.StringType.get()));
    private final Table table = Tables.table(schema, PartitionSpec.unpartitioned());
    private final CountedReads reads = new CountedReads();
    private DataFile file;

    @BeforeAll
    void write() throws Exception {
        file = written();
    }

    @BeforeEach
    void open() {
        reads.open(ENOUGH);
    }

    @AfterEach
    void forget() {
        reads.open(ENOUGH);
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
            FileScanTask task = task(file, each.getKey());
            assertEquals(each.getValue() * GROUP, rowsOf(task), () -> each.getKey().toString());
            assertEquals(each.getValue().longValue(), selected(task), () -> each.getKey().toString());
        }
    }

    @Test
    void anyFilterIsCountedInEachPartOfAFile() throws Exception {
        Random chosen = new Random(3);
        long some = 0;
        for (int round = 0; round < 10; round++) {
            Expression filter = anyFilter(chosen);
            List<FileScanTask> parts = parts(file, filter);
            assertTrue(parts.size() > 1);
            long rows = 0;
            for (FileScanTask part : parts) {
                rows += rowsOf(part);
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
        List<FileScanTask> parts = parts(file, filter);
        rowsOf(parts.get(0));
        assertEquals(-1, selected(parts.toArray(new FileScanTask[0])));
        DataFile another = DataFiles.builder(table.spec()).copy(file).withPath(file.location() + "2").build();
        assertEquals(-1, selected(parts(another, filter).get(0)));
        // Nor by another filter.
        assertEquals(-1, selected(parts(file, lessThan("k", 251L)).get(0)));
        assertEquals(1, selected(parts.get(0)));
    }

    @Test
    void withoutAFilterTheMetadataSayIt() throws Exception {
        assertEquals(GROUPS, selected(task(file, alwaysTrue())));
        List<FileScanTask> parts = parts(file, alwaysTrue());
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
            FileScanTask task = task(each, filter);
            assertEquals(3 * GROUP, rowsOf(task));
            assertEquals(-1, selected(task));
        }
        assertEquals(-1, selected(task(silent, alwaysTrue())));
        assertEquals(3, selected(task(file, filter)));
    }

    @Test
    void aMappingOfNamesMayChangeWhatAFilterSelects() throws Exception {
        FileScanTask task = task(file, lessThan("k", 250L));
        assertEquals(3 * GROUP, rowsOf(task, MappingUtil.create(schema)));
        assertEquals(-1, selected(task));
    }

    @Test
    void filesOfOtherFormatsHaveNone() throws Exception {
        assertEquals(-1, selected(task(Tables.file(table, "", "1.avro"), alwaysTrue())));
        assertEquals(0, selected());
    }

    @Test
    void theMemoryIsBounded() throws Exception {
        reads.open(4_000);
        for (long end = 1; end < 15; end++) {
            rowsOf(task(file, lessThan("k", end)));
        }
        String[] use = reads.use().split(" ");
        assertTrue(Long.parseLong(use[0]) < 8 && Long.parseLong(use[1]) <= 4_000, reads.use());
        assertEquals(-1, selected(task(file, lessThan("k", 1L))));
        assertEquals(1, selected(task(file, lessThan("k", 14L))));
        reads.open(0);
        assertEquals(3 * GROUP, rowsOf(task(file, lessThan("k", 250L))));
        assertEquals(-1, selected(task(file, lessThan("k", 250L))));
    }

    private Expression anyFilter(Random chosen) {
        Expression range = lessThan("k", (long) chosen.nextInt(GROUP * GROUPS));
        return switch (chosen.nextInt(4)) {
            case 0 -> range;
            case 1 -> in("word", WORDS[chosen.nextInt(GROUPS)], "bat", WORDS[chosen.nextInt(GROUPS)]);
            case 2 -> in("code", code(chosen.nextInt(GROUP * GROUPS)), code(-1));
            default -> and(range, equal("word", WORDS[chosen.nextInt(GROUPS)]));
        };
    }

    private static String code(int number) {
        return Integer.toHexString(number * 0x9E3779B9);
    }

    private long selected(FileScanTask... tasks) {
        List<ScanTaskGroup<?>> groups = new ArrayList<>();
        for (FileScanTask task : tasks) {
            groups.add(new BaseScanTaskGroup<>(List.of(task)));
        }
        return ScanRowGroups.selectedOf(schema, groups);
    }

    private FileScanTask task(DataFile file, Expression filter) {
        return new BaseFileScanTask(
            file,
            new DeleteFile[0],
            SchemaParser.toJson(schema),
            PartitionSpecParser.toJson(table.spec()),
            ResidualEvaluator.of(table.spec(), filter, true));
    }

    private List<FileScanTask> parts(DataFile file, Expression filter) {
        List<FileScanTask> found = new ArrayList<>();
        task(file, filter).split(1).forEach(found::add);
        return found;
    }

    /** Returns how many rows the reader of a task returns: those of whole row groups. */
    private int rowsOf(FileScanTask task) throws Exception {
        return rowsOf(task, null);
    }

    private int rowsOf(FileScanTask task, NameMapping mapping) throws Exception {
        int rows = 0;
        try (CloseableIterable<InternalRow> read = FormatModelRegistry
                .<InternalRow, Object>readBuilder(
                    FileFormat.PARQUET, InternalRow.class, table.io().newInputFile(task.file().location()))
                .project(schema)
                .split(task.start(), task.length())
                .filter(task.residual())
                .withNameMapping(mapping)
                .reuseContainers()
                .build()) {
            for (InternalRow row : read) {
                rows += row == null ? 0 : 1;
            }
        }
        return rows;
    }

    /** Returns a file of which the metadata say where its row groups begin. */
    private DataFile written() throws Exception {
        String location = table.location() + "/data/1.parquet";
        DataWriter<Record> writer = Parquet.writeData(table.io().newOutputFile(location))
            .schema(schema)
            .withSpec(table.spec())
            .createWriterFunc(GenericParquetWriter::create)
            .set("write.parquet.row-group-size-bytes", "1")
            .set("write.parquet.row-group-check-min-record-count", String.valueOf(GROUP))
            .set("write.parquet.row-group-check-max-record-count", String.valueOf(GROUP))
            .set("write.parquet.bloom-filter-enabled.column.code", "true")
            .build();
        try (writer) {
            for (int number = 0; number < GROUP * GROUPS; number++) {
                Record row = GenericRecord.create(schema);
                row.setField("k", (long) number);
                row.setField("word", wordOf(number));
                row.setField("code", code(number));
                writer.write(row);
            }
        }
        return DataFiles.builder(table.spec())
            .withPath(location)
            .withFormat(FileFormat.PARQUET)
            .withFileSizeInBytes(writer.toDataFile().fileSizeInBytes())
            .withRecordCount(GROUP * GROUPS)
            .withSplitOffsets(writer.toDataFile().splitOffsets())
            .build();
    }

    /** The bounds of each row group are the same, so only its dictionary tells it from others. */
    private static String wordOf(int number) {
        return switch (number % GROUP) {
            case 0 -> "aaa";
            case 1 -> "zzz";
            default -> WORDS[number / GROUP];
        };
    }
}
