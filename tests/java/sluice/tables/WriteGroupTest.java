package sluice.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.fixtures.Tables.append;
import static sluice.fixtures.Tables.file;
import static sluice.fixtures.Tables.table;
import static sluice.fixtures.Tables.tasks;

import java.util.List;
import org.apache.iceberg.FileMetadata;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.Test;

final class WriteGroupTest {

    private final NestedField id = NestedField.required(1, "id", Types.LongType.get());
    private final NestedField name = NestedField.optional(2, "name", Types.StringType.get());
    private final NestedField size = NestedField.optional(3, "size", Types.StructType.of(
        NestedField.optional(4, "width", Types.LongType.get()),
        NestedField.optional(5, "height", Types.LongType.get())));
    private final Schema schema = new Schema(id, name, size);
    private final Table table = table(schema, PartitionSpec.unpartitioned());

    @Test
    void unknownColumnsAreAllColumns() {
        assertEquals(List.of(id, name, size), new WriteGroup(table, null, null, 0).written());
    }

    @Test
    void aFileKeepsItsColumnsAndTheirOrder() {
        assertEquals(List.of(name, id), new WriteGroup(table, List.of(name, id), null, 0).written());
    }

    @Test
    void aFileWithoutColumnsGetsOne() {
        assertEquals(List.of(id), new WriteGroup(table, List.of(), null, 0).written());
    }

    @Test
    void thePartitionsColumnsAreWritten() {
        Table partitioned = table(schema, PartitionSpec.builderFor(schema).identity("name").build());
        assertEquals(List.of(id, name), new WriteGroup(partitioned, List.of(id), null, 0).written());
    }

    @Test
    void keysOfDeletesAreReadAndNotWritten() throws Exception {
        table.updateProperties().set("format-version", "2").commit();
        append(table, file(table, "", "1.avro"));
        delete(2);
        WriteGroup group = new WriteGroup(table, List.of(id), null, 0);
        assertEquals(List.of(id, name), group.read(tasks(table)));
        assertEquals(List.of(id), group.written());
    }

    @Test
    void aKeyInsideAPartlyWrittenStructMakesItWhole() throws Exception {
        table.updateProperties().set("format-version", "2").commit();
        append(table, file(table, "", "1.avro"));
        delete(5);
        NestedField partial = NestedField.from(size)
            .ofType(Types.StructType.of(size.type().asStructType().field("width")))
            .build();
        WriteGroup group = new WriteGroup(table, List.of(partial, id), null, 0);
        assertEquals(List.of(size, id), group.read(tasks(table)));
        assertEquals(List.of(size, id), group.written());
    }

    @Test
    void anOrderIsKeptWhileItsColumnsAreWritten() {
        table.replaceSortOrder().asc("name").commit();
        int order = table.sortOrder().orderId();
        assertEquals(table.sortOrder(), new WriteGroup(table, List.of(id, name), order, 0).order());
        assertTrue(new WriteGroup(table, List.of(id), order, 0).order().isUnsorted());
        assertTrue(new WriteGroup(table, List.of(id, name), null, 0).order().isUnsorted());
        assertTrue(new WriteGroup(table, List.of(id, name), 77, 0).order().isUnsorted());
    }

    private void delete(int key) {
        table.newRowDelta()
            .addDeletes(FileMetadata.deleteFileBuilder(table.spec())
                .ofEqualityDeletes(key)
                .withPath(table.location() + "/data/deletes.avro")
                .withFileSizeInBytes(10)
                .withRecordCount(1)
                .build())
            .commit();
    }
}
