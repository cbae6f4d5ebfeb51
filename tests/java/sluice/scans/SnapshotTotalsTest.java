package sluice.scans;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.fixtures.Tables.append;
import static sluice.fixtures.Tables.file;
import static sluice.fixtures.Tables.table;

import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.Test;

final class SnapshotTotalsTest {

    private final Schema schema = new Schema(
        NestedField.required(1, "id", Types.LongType.get()), NestedField.optional(2, "d", Types.StringType.get()));
    private final Table table = table(schema, PartitionSpec.builderFor(schema).identity("d").build());
    private final SnapshotTotals totals = new SnapshotTotals();

    @Test
    void everyFileOfTheSnapshotCounts() throws Exception {
        append(table, file(table, "d=a", "1.avro"), file(table, "d=b", "2.avro"));
        ScanTotals before = totals.of(table, table.currentSnapshot());
        assertEquals(new ScanTotals(2, 2, 200, 20, 1, -1), before);
        append(table, file(table, "d=a", "3.avro"));
        assertEquals(new ScanTotals(2, 3, 300, 30, 2, -1), totals.of(table, table.currentSnapshot()));
        assertArrayEquals(new long[] {2, 2, 200, 20, 1, -1}, before.row());
    }

    @Test
    void rowGroupsAreKnownIfEachFileSaysWhereTheyBegin() throws Exception {
        append(table, parquet("1", List.of(4L, 50L)), parquet("2", List.of(4L)));
        assertEquals(3, totals.of(table, table.currentSnapshot()).rowGroups());
        append(table, parquet("3", null));
        assertEquals(-1, totals.of(table, table.currentSnapshot()).rowGroups());
    }

    private DataFile parquet(String name, List<Long> offsets) {
        return DataFiles.builder(table.spec())
            .withPath(table.location() + "/data/" + name)
            .withFormat(FileFormat.PARQUET)
            .withFileSizeInBytes(100)
            .withPartitionPath("d=a")
            .withRecordCount(10)
            .withSplitOffsets(offsets)
            .build();
    }

    @Test
    void aPartitionOfAnotherSpecIsAnotherPartition() throws Exception {
        append(table, file(table, "d=a", "1.avro"));
        table.updateSpec().addField("id").commit();
        append(table, file(table, "d=a/id=1", "2.avro"));
        assertEquals(2, totals.of(table, table.currentSnapshot()).partitions());
    }
}
