package sluice.tables;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Table;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types;

/**
 * Completes the metadata of a data file for columns that it does not have: NULL in every row. Planners then leave the
 * file out for conditions on them. `service/adapters/data_files/layout/skipped_columns.py` has the same rule.
 */
public final class SkippedColumns {

    /** Returns the files, which have these fields of the table, with the counts of the fields that they do not have. */
    public static Set counted(Set files, Table table, List written) {
        Set found = new HashSet();
        Iterator each = files.iterator();
        while (each.hasNext()) {
            DataFile file = (DataFile) each.next();
            PartitionSpec spec = (PartitionSpec) table.specs().get(Integer.valueOf(file.specId()));
            found.add(counted(file, spec, nullIds(table, written, spec)));
        }
        return found;
    }

    private static DataFile counted(DataFile file, PartitionSpec spec, Set ids) {
        Map values = copied(file.valueCounts());
        Map nulls = copied(file.nullValueCounts());
        Iterator each = ids.iterator();
        while (each.hasNext()) {
            Object id = each.next();
            values.put(id, Long.valueOf(file.recordCount()));
            nulls.put(id, Long.valueOf(file.recordCount()));
        }
        Metrics metrics = new Metrics(
            Long.valueOf(file.recordCount()),
            file.columnSizes(),
            values,
            nulls,
            file.nanValueCounts(),
            file.lowerBounds(),
            file.upperBounds());
        return DataFiles.builder(spec).copy(file).withMetrics(metrics).build();
    }

    private static Map copied(Map counts) {
        return counts == null ? new HashMap() : new HashMap(counts);
    }

    private static Set nullIds(Table table, List written, PartitionSpec spec) {
        Set held = TypeUtil.indexById(Types.StructType.of(written)).keySet();
        Set found = new HashSet();
        collect(table, table.schema().columns(), held, found);
        for (int i = 0; i < spec.fields().size(); i++) {
            PartitionField each = (PartitionField) spec.fields().get(i);
            if (!each.transform().isVoid()) {
                found.remove(Integer.valueOf(each.sourceId()));
            }
        }
        return found;
    }

    private static void collect(Table table, List fields, Set held, Set found) {
        for (int i = 0; i < fields.size(); i++) {
            Types.NestedField field = (Types.NestedField) fields.get(i);
            if (field.initialDefault() != null) {
                continue;
            }
            Integer id = Integer.valueOf(field.fieldId());
            if (!held.contains(id) && !hasDefault(field) && isCounted(table, field)) {
                found.add(id);
            }
            if (field.type().isStructType()) {
                collect(table, field.type().asStructType().fields(), held, found);
            }
        }
    }

    /** A reader may build a missing struct from its fields' defaults. */
    private static boolean hasDefault(Types.NestedField field) {
        if (!field.type().isStructType()) {
            return false;
        }
        List fields = field.type().asStructType().fields();
        for (int i = 0; i < fields.size(); i++) {
            Types.NestedField each = (Types.NestedField) fields.get(i);
            if (each.initialDefault() != null || hasDefault(each)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isCounted(Table table, Types.NestedField field) {
        String name = table.schema().findColumnName(field.fieldId());
        String mode = (String) table.properties().get("write.metadata.metrics.column." + name);
        return mode == null || !mode.trim().equalsIgnoreCase("none");
    }
}
