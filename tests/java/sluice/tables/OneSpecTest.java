package sluice.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static sluice.fixtures.Tables.append;
import static sluice.fixtures.Tables.file;
import static sluice.fixtures.Tables.table;

import java.util.Set;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.Test;

final class OneSpecTest {

    private final Schema schema = new Schema(NestedField.required(1, "id", Types.LongType.get()));
    private final Table table = table(schema, PartitionSpec.unpartitioned());
    private final DataFile old = file(table, "", "old.avro");

    @Test
    void rowsUnderTheSameSpecDoNotMatter() {
        Table rewritten = begun();
        append(table, file(table, "", "other.avro"));
        rewrite(rewritten);
        assertEquals(2, Integer.parseInt(rewritten.currentSnapshot().summary().get("total-data-files")));
    }

    @Test
    void rowsUnderAnotherSpecEndTheRewriting() {
        Table rewritten = begun();
        table.updateSpec().addField("id").commit();
        append(table, file(table, "id=1", "other.avro"));
        ValidationException failure = assertThrows(ValidationException.class, () -> rewrite(rewritten));
        assertEquals("Rows were written meanwhile under another partition spec than 0", failure.getMessage());
    }

    @Test
    void anotherSpecWithoutRowsDoesNotMatter() {
        Table rewritten = begun();
        table.updateSpec().addField("id").commit();
        rewrite(rewritten);
        assertEquals("1", rewritten.currentSnapshot().summary().get("total-data-files"));
    }

    private Table begun() {
        table.updateProperties().set("format-version", "2").commit();
        append(table, old);
        return new BaseTable(
            new OneSpec(((HasTableOperations) table).operations(), SnapshotRef.MAIN_BRANCH), "item");
    }

    private void rewrite(Table rewritten) {
        rewritten.newRewrite()
            .rewriteFiles(Set.of(old), Set.of(unpartitioned("new.avro")))
            .commit();
    }

    private DataFile unpartitioned(String name) {
        return DataFiles.builder(PartitionSpec.unpartitioned())
            .copy(old)
            .withPath(table.location() + "/data/" + name)
            .build();
    }
}
