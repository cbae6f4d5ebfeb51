package sluice.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.fixtures.Tables.file;
import static sluice.fixtures.Tables.table;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.Test;

final class SkippedColumnsTest {

    private static final long ROWS = 10;

    private final NestedField id = NestedField.required(1, "id", Types.LongType.get());
    private final NestedField name = NestedField.optional(2, "name", Types.StringType.get());
    private final NestedField size = NestedField.optional(3, "size", Types.StructType.of(
        NestedField.optional(4, "width", Types.LongType.get()),
        NestedField.optional(5, "height", Types.LongType.get())));

    @Test
    void eachFieldThatAFileDoesNotHaveIsNullInEveryRow() {
        Table table = table(new Schema(id, name, size), PartitionSpec.unpartitioned());
        DataFile counted = counted(table, List.of(id));
        Map<Integer, Long> all = Map.of(2, ROWS, 3, ROWS, 4, ROWS, 5, ROWS);
        assertEquals(all, counted.valueCounts());
        assertEquals(all, counted.nullValueCounts());
        assertEquals(ROWS, counted.recordCount());
    }

    @Test
    void aFieldInsideAWrittenStructIsCountedToo() {
        Table table = table(new Schema(id, name, size), PartitionSpec.unpartitioned());
        NestedField partial = NestedField.from(size)
            .ofType(Types.StructType.of(size.type().asStructType().field("width")))
            .build();
        assertEquals(Map.of(5, ROWS), counted(table, List.of(id, name, partial)).nullValueCounts());
    }

    @Test
    void aColumnWithoutMetricsIsNotCounted() {
        Table table = table(new Schema(id, name, size), PartitionSpec.unpartitioned());
        table.updateProperties()
            .set("write.metadata.metrics.column.name", "None")
            .set("write.metadata.metrics.column.size.width", "counts")
            .commit();
        assertEquals(Set.of(3, 4, 5), counted(table, List.of(id)).nullValueCounts().keySet());
    }

    @Test
    void aColumnThatThePartitionHasIsNotCounted() {
        Schema schema = new Schema(id, name);
        Table table = table(schema, PartitionSpec.builderFor(schema).identity("name").build());
        DataFile file = file(table, "name=a", "1.avro");
        DataFile counted = SkippedColumns.counted(Set.of(file), table, List.of(id)).iterator().next();
        assertEquals(Map.of(), counted.nullValueCounts());
    }

    private static DataFile counted(Table table, List<NestedField> written) {
        Set<DataFile> found = SkippedColumns.counted(Set.of(file(table, "", "1.avro")), table, written);
        return found.iterator().next();
    }
}
