package sluice.tables;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.fixtures.Tables.append;
import static sluice.fixtures.Tables.file;
import static sluice.fixtures.Tables.table;

import java.util.List;
import java.util.Map;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.Test;

final class RewritePlannerTest {

    private final Schema schema = new Schema(
        NestedField.required(1, "id", Types.LongType.get()), NestedField.optional(2, "d", Types.StringType.get()));
    private final Table table = table(schema, PartitionSpec.builderFor(schema).identity("d").build());

    @Test
    void smallFilesOfAPartitionAreRewrittenTogether() throws Exception {
        append(
            table, file(table, "d=a", "1.avro"), file(table, "d=a", "2.avro"), file(table, "d=b", "3.avro"),
            file(table, "d=b", "4.avro"), file(table, "d=c", "5.avro"));
        assertEquals(List.of(2, 2), sizes(Map.of("min-input-files", "2")));
    }

    @Test
    void nothingIsRewrittenWhereThereIsNothingToDo() throws Exception {
        append(table, file(table, "d=a", "1.avro"));
        assertEquals(List.of(), sizes(Map.of("min-input-files", "2")));
    }

    @Test
    void everyFileIsRewrittenOnDemand() throws Exception {
        append(table, file(table, "d=a", "1.avro"));
        assertEquals(List.of(1), sizes(Map.of("rewrite-all", "true")));
    }

    @Test
    void filesOfEachSortOrderAreRewrittenSeparately() throws Exception {
        table.replaceSortOrder().asc("id").commit();
        append(table, file(table, "d=a", "1.avro"), file(table, "d=a", "2.avro"));
        List<RewritePlanner.Rewrite> planned = planned(Map.of("rewrite-all", "true"));
        assertEquals(1, planned.size());
        assertEquals(true, planned.get(0).group().order().isUnsorted());
    }

    @Test
    void filesOfAnEarlierSpecAreOneGroup() throws Exception {
        append(table, file(table, "d=a", "1.avro"), file(table, "d=b", "2.avro"));
        table.updateSpec().addField("id").commit();
        assertEquals(List.of(2), sizes(Map.of("rewrite-all", "true")));
    }

    private List<Integer> sizes(Map<String, String> options) throws Exception {
        return planned(options).stream().map(rewrite -> rewrite.files().fileScanTasks().size()).toList();
    }

    private List<RewritePlanner.Rewrite> planned(Map<String, String> options) throws Exception {
        return new RewritePlanner(table, table.currentSnapshot().snapshotId(), options).planned();
    }
}
