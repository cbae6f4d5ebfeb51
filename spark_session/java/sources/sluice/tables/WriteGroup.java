package sluice.tables;

import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SortField;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types;

/** Data files of one write schema and one sort order: the columns to write, and the columns to read for that. */
public final class WriteGroup {
    public final List tasks = new ArrayList();
    private final Table table;
    private final SortOrder order;
    private List written;

    /** `columns` are those of the files; null: all columns of the table. */
    public WriteGroup(Table table, List columns, Integer orderId, int outputSpecId) {
        this.table = table;
        List found = columns == null ? table.schema().columns() : columns;
        // A row's partition needs the spec's source columns; they may be newer than the file.
        this.written = with(found, sources((PartitionSpec) table.specs().get(Integer.valueOf(outputSpecId))));
        if (written.isEmpty()) {
            // Files whose columns are all dropped still have rows, and a row needs a column.
            written = with(written, ids((Types.NestedField) table.schema().columns().get(0)));
        }
        this.order = usable(orderId);
    }

    /** Returns the columns of the new files, in this order. */
    public List written() {
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
    public List read(List tasks) {
        List needed = new ArrayList();
        for (int i = 0; i < tasks.size(); i++) {
            FileScanTask task = (FileScanTask) tasks.get(i);
            needed.addAll(sources(task.spec()));
            for (int j = 0; j < task.deletes().size(); j++) {
                List keys = ((DeleteFile) task.deletes().get(j)).equalityFieldIds();
                if (keys != null) {
                    needed.addAll(keys);
                }
            }
        }
        List read = with(written, needed);
        // A needed field inside a partly written struct makes the struct wider; it is written as it is read.
        for (int i = 0; i < written.size(); i++) {
            written.set(i, read.get(i));
        }
        return read;
    }

    private SortOrder usable(Integer orderId) {
        SortOrder found = orderId == null ? null : (SortOrder) table.sortOrders().get(orderId);
        if (found == null) {
            return SortOrder.unsorted();
        }
        Schema schema = new Schema(written);
        for (int i = 0; i < found.fields().size(); i++) {
            SortField each = (SortField) found.fields().get(i);
            Types.NestedField source = schema.findField(each.sourceId());
            if (source == null || !each.transform().canTransform(source.type())) {
                return SortOrder.unsorted();
            }
        }
        return found;
    }

    /** Adds the table's columns for ids that are not among the fields: at the end, or in place of a partial column. */
    private List with(List fields, List ids) {
        List found = new ArrayList(fields);
        for (int i = 0; i < ids.size(); i++) {
            Integer id = (Integer) ids.get(i);
            if (!TypeUtil.indexById(Types.StructType.of(found)).containsKey(id)) {
                add(found, id);
            }
        }
        return found;
    }

    private void add(List found, Integer id) {
        List columns = table.schema().columns();
        for (int i = 0; i < columns.size(); i++) {
            Types.NestedField column = (Types.NestedField) columns.get(i);
            if (!TypeUtil.indexById(Types.StructType.of(new Types.NestedField[] {column})).containsKey(id)) {
                continue;
            }
            for (int j = 0; j < found.size(); j++) {
                if (((Types.NestedField) found.get(j)).fieldId() == column.fieldId()) {
                    found.set(j, column);
                    return;
                }
            }
            found.add(column);
            return;
        }
        // The table no longer has this column: nothing reads it.
    }

    private static List sources(PartitionSpec spec) {
        List ids = new ArrayList();
        for (int i = 0; i < spec.fields().size(); i++) {
            PartitionField each = (PartitionField) spec.fields().get(i);
            if (!each.transform().isVoid()) {
                ids.add(Integer.valueOf(each.sourceId()));
            }
        }
        return ids;
    }

    private static List ids(Types.NestedField field) {
        List ids = new ArrayList();
        ids.add(Integer.valueOf(field.fieldId()));
        return ids;
    }
}
