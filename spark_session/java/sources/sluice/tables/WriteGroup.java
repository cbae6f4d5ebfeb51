package sluice.tables;

import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SortField;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types;

/** Data files of one write schema and one sort order: the columns to write, and the columns to read for that. */
public final class WriteGroup {

    final List<FileScanTask> tasks = new ArrayList<>();
    private final Table table;
    private final SortOrder order;
    private List<Types.NestedField> written;

    /** `columns` are those of the files; null: all columns of the table. `orderId` is that of the files, or null. */
    public WriteGroup(Table table, List<Types.NestedField> columns, Integer orderId, int outputSpecId) {
        this.table = table;
        List<Types.NestedField> found = columns == null ? table.schema().columns() : columns;
        // A row's partition needs the spec's source columns; they may be newer than the file.
        this.written = with(found, sources(table.specs().get(outputSpecId)));
        if (written.isEmpty()) {
            // Files whose columns are all dropped still have rows, and a row needs a column.
            written = with(written, List.of(table.schema().columns().get(0).fieldId()));
        }
        this.order = usable(orderId);
    }

    /** Returns the columns of the new files, in this order. */
    public List<Types.NestedField> written() {
        return written;
    }

    /** Returns the sort order of the new files. */
    public SortOrder order() {
        return order;
    }

    /**
     * Returns the written columns, and those that identify deleted rows and the partitions of these tasks' earlier
     * specs.
     */
    public List<Types.NestedField> read(List<FileScanTask> tasks) {
        List<Integer> needed = new ArrayList<>();
        for (FileScanTask task : tasks) {
            needed.addAll(sources(task.spec()));
            for (DeleteFile delete : task.deletes()) {
                List<Integer> keys = delete.equalityFieldIds();
                if (keys != null) {
                    needed.addAll(keys);
                }
            }
        }
        List<Types.NestedField> read = with(written, needed);
        // A needed field inside a partly written struct makes the struct wider; it is written as it is read.
        written = new ArrayList<>(read.subList(0, written.size()));
        return read;
    }

    private SortOrder usable(Integer orderId) {
        SortOrder found = orderId == null ? null : table.sortOrders().get(orderId);
        if (found == null) {
            return SortOrder.unsorted();
        }
        Schema schema = new Schema(written);
        for (SortField each : found.fields()) {
            Types.NestedField source = schema.findField(each.sourceId());
            if (source == null || !each.transform().canTransform(source.type())) {
                return SortOrder.unsorted();
            }
        }
        return found;
    }

    /** Adds the table's columns for ids that are not among the fields: at the end, or in place of a partial column. */
    private List<Types.NestedField> with(List<Types.NestedField> fields, List<Integer> ids) {
        List<Types.NestedField> found = new ArrayList<>(fields);
        for (int id : ids) {
            if (!isIn(found, id)) {
                add(found, id);
            }
        }
        return found;
    }

    /** A column that the table no longer has is not added: nothing reads it. */
    private void add(List<Types.NestedField> found, int id) {
        for (Types.NestedField column : table.schema().columns()) {
            if (isIn(List.of(column), id)) {
                int place = found.stream().map(Types.NestedField::fieldId).toList().indexOf(column.fieldId());
                if (place < 0) {
                    found.add(column);
                } else {
                    found.set(place, column);
                }
                return;
            }
        }
    }

    private static boolean isIn(List<Types.NestedField> fields, int id) {
        return TypeUtil.indexById(Types.StructType.of(fields)).containsKey(id);
    }

    private static List<Integer> sources(PartitionSpec spec) {
        List<Integer> ids = new ArrayList<>();
        spec.fields().forEach(field -> {
            if (!field.transform().isVoid()) {
                ids.add(field.sourceId());
            }
        });
        return ids;
    }
}
