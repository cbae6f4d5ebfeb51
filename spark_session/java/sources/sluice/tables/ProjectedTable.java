package sluice.tables;

import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.SortOrder;
import org.apache.iceberg.Table;

/** A table reduced to some of its columns, in this order, for reading and writing files. */
public final class ProjectedTable extends BaseTable {
    private final Schema projected;
    private final SortOrder order;

    public ProjectedTable(Table table, List fields, SortOrder order) {
        super(((HasTableOperations) table).operations(), table.name());
        this.projected = new Schema(fields);
        this.order = order;
    }

    public Schema schema() {
        return projected;
    }

    public SortOrder sortOrder() {
        return order;
    }

    /** Returns the specs whose columns are all here: a task that writes binds every spec, whichever it writes for. */
    public Map specs() {
        Map found = new HashMap();
        Iterator all = super.specs().values().iterator();
        while (all.hasNext()) {
            PartitionSpec each = (PartitionSpec) all.next();
            if (isOfColumns(each)) {
                found.put(Integer.valueOf(each.specId()), each);
            }
        }
        return found;
    }

    private boolean isOfColumns(PartitionSpec spec) {
        for (int i = 0; i < spec.fields().size(); i++) {
            PartitionField each = (PartitionField) spec.fields().get(i);
            if (!each.transform().isVoid() && projected.findField(each.sourceId()) == null) {
                return false;
            }
        }
        return true;
    }
}
