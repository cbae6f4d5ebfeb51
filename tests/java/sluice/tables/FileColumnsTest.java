package sluice.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static sluice.fixtures.Tables.append;
import static sluice.fixtures.Tables.file;
import static sluice.fixtures.Tables.table;
import static sluice.fixtures.Tables.tasks;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.data.GenericRecord;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.GenericParquetWriter;
import org.apache.iceberg.io.DataWriter;
import org.apache.iceberg.parquet.Parquet;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.Test;

final class FileColumnsTest {

    private final NestedField id = NestedField.required(1, "id", Types.LongType.get());
    private final NestedField name = NestedField.optional(2, "name", Types.StringType.get());
    private final NestedField size = NestedField.optional(3, "size", Types.StructType.of(
        NestedField.optional(5, "width", Types.LongType.get()),
        NestedField.optional(6, "height", Types.LongType.get())));
    private final NestedField tags = NestedField.optional(
        4, "tags", Types.ListType.ofOptional(7, Types.StringType.get()));
    private final Table table = table(new Schema(id, name, size, tags), PartitionSpec.unpartitioned());

    @Test
    void aFileHasItsColumnsInItsOrder() throws Exception {
        assertEquals(List.of(tags, id), FileColumns.of(written(new Schema(tags, id)), table));
    }

    @Test
    void aStructHasTheFieldsThatAreInTheFile() throws Exception {
        NestedField partial = NestedField.from(size)
            .ofType(Types.StructType.of(size.type().asStructType().field("height")))
            .build();
        assertEquals(List.of(id, partial), FileColumns.of(written(new Schema(id, partial)), table));
    }

    @Test
    void aColumnHasItsNameInTheTableAndNotInTheFile() throws Exception {
        DataFile file = written(new Schema(id, name));
        table.updateSchema().renameColumn("name", "title").commit();
        assertEquals(List.of(id, NestedField.optional(2, "title", Types.StringType.get())),
            FileColumns.of(file, table));
    }

    @Test
    void aDroppedColumnIsLeftOut() throws Exception {
        DataFile file = written(new Schema(id, name));
        table.updateSchema().deleteColumn("name").commit();
        assertEquals(List.of(id), FileColumns.of(file, table));
    }

    @Test
    void columnsOfOtherFormatsAreUnknown() throws Exception {
        assertNull(FileColumns.of(file(table, "", "1.avro"), table));
    }

    @Test
    void severalFilesAreReadInTheirOrder() throws Exception {
        Map<String, List<NestedField>> columns = new HashMap<>();
        for (int i = 0; i < 20; i++) {
            NestedField column = i % 2 == 0 ? id : name;
            DataFile file = written(new Schema(column));
            columns.put(file.location(), List.of(column));
            append(table, file);
        }
        List<FileScanTask> tasks = tasks(table);
        List<List<NestedField>> expected =
            tasks.stream().map(task -> columns.get(task.file().location())).toList();
        assertEquals(expected, FileColumns.ofAll(tasks, table));
        assertEquals(List.of(), FileColumns.ofAll(List.of(), table));
    }

    private DataFile written(Schema schema) throws Exception {
        String location = table.location() + "/data/" + System.nanoTime() + ".parquet";
        DataWriter<Record> writer = Parquet.writeData(table.io().newOutputFile(location))
            .schema(schema)
            .withSpec(table.spec())
            .createWriterFunc(GenericParquetWriter::create)
            .build();
        try (writer) {
            Record row = GenericRecord.create(schema);
            if (schema.findField("id") != null) {
                row.setField("id", 1L);
            }
            writer.write(row);
        }
        return writer.toDataFile();
    }
}
