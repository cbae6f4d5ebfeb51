package sluice.tables;

import java.util.HashMap;
import java.util.HashSet;
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

    private static final String METRICS_OF_COLUMN = "write.metadata.metrics.column.";

    private SkippedColumns() {}

    /** Returns the files, which have these fields of the table, with the counts of the fields that they do not have. */
    public static Set<DataFile> counted(Set<DataFile> files, Table table, List<Types.NestedField> written) {
        Set<DataFile> found = new HashSet<>();
        for (DataFile file : files) {
            PartitionSpec spec = table.specs().get(file.specId());
            found.add(counted(file, spec, nullIds(table, written, spec)));
        }
        return found;
    }

    private static DataFile counted(DataFile file, PartitionSpec spec, Set<Integer> ids) {
        Map<Integer, Long> values = copied(file.valueCounts());
        Map<Integer, Long> nulls = copied(file.nullValueCounts());
        for (Integer id : ids) {
            values.put(id, file.recordCount());
            nulls.put(id, file.recordCount());
        }
        var metrics = new Metrics(
            file.recordCount(),
            file.columnSizes(),
            values,
            nulls,
            file.nanValueCounts(),
            file.lowerBounds(),
            file.upperBounds());
        return DataFiles.builder(spec).copy(file).withMetrics(metrics).build();
    }

    private static Map<Integer, Long> copied(Map<Integer, Long> counts) {
        return counts == null ? new HashMap<>() : new HashMap<>(counts);
    }

    private static Set<Integer> nullIds(Table table, List<Types.NestedField> written, PartitionSpec spec) {
        Set<Integer> held = TypeUtil.indexById(Types.StructType.of(written)).keySet();
        Set<Integer> found = new HashSet<>();
        collect(table, table.schema().columns(), held, found);
        for (PartitionField field : spec.fields()) {
            if (!field.transform().isVoid()) {
                found.remove(field.sourceId());
            }
        }
        return found;
    }

    private static void collect(
            Table table, List<Types.NestedField> fields, Set<Integer> held, Set<Integer> found) {
        for (Types.NestedField field : fields) {
            if (field.initialDefault() != null) {
                continue;
            }
            if (!held.contains(field.fieldId()) && !hasDefault(field) && isCounted(table, field)) {
                found.add(field.fieldId());
            }
            if (field.type().isStructType()) {
                collect(table, field.type().asStructType().fields(), held, found);
            }
        }
    }

    /** A reader may build a missing struct from its fields' defaults. */
    private static boolean hasDefault(Types.NestedField field) {
        return field.type().isStructType()
            && field.type().asStructType().fields().stream()
                .anyMatch(each -> each.initialDefault() != null || hasDefault(each));
    }

    private static boolean isCounted(Table table, Types.NestedField field) {
        String name = table.schema().findColumnName(field.fieldId());
        String mode = table.properties().get(METRICS_OF_COLUMN + name);
        return mode == null || !mode.trim().equalsIgnoreCase("none");
    }
}
