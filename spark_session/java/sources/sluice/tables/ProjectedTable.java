package sluice.tables;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.Types;

/** A table reduced to some of its columns, in this order, for reading and writing files. */
public final class ProjectedTable extends BaseTable {

    private final Schema projected;
    private final SortOrder order;

    public ProjectedTable(Table table, List<Types.NestedField> fields, SortOrder order) {
        super(((HasTableOperations) table).operations(), table.name());
        this.projected = new Schema(fields);
        this.order = order;
    }

    @Override
    public Schema schema() {
        return projected;
    }

    @Override
    public SortOrder sortOrder() {
        return order;
    }

    /** Returns the specs whose columns are all here: a task that writes binds every spec, whichever it writes for. */
    @Override
    public Map<Integer, PartitionSpec> specs() {
        Map<Integer, PartitionSpec> found = new HashMap<>();
        for (PartitionSpec spec : super.specs().values()) {
            if (isOfColumns(spec)) {
                found.put(spec.specId(), spec);
            }
        }
        return found;
    }

    private boolean isOfColumns(PartitionSpec spec) {
        return spec.fields().stream()
            .allMatch(field -> field.transform().isVoid() || projected.findField(field.sourceId()) != null);
    }
}
