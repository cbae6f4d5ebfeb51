package sluice.scans;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.map;

import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionPath;
import org.apache.spark.sql.execution.datasources.PartitionSpec;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;
import org.apache.spark.sql.execution.datasources.PartitioningUtils;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import scala.collection.Seq;

/**
 * The values that one listing of a table's partitions found in each of their columns, as text; NULL as null.
 *
 * <p>A column has none if its type can be written in more than one way; no column has any if there are more than `most`
 * partitions.
 */
public final class PartitionValues {

    private static final String NULL = "__HIVE_DEFAULT_PARTITION__";
    private static final Set<String> TYPES =
        Set.of("byte", "short", "integer", "long", "date", "string", "boolean");

    private final int most;
    private Map<String, Set<String>> found = null;

    public PartitionValues(int most) {
        this.most = most;
    }

    /** Returns a set of texts by column; null when nothing was listed. */
    public Map<String, Set<String>> found() {
        return found;
    }

    /** Takes partitions whose values Spark has read already. */
    public void take(PartitioningAwareFileIndex index) {
        PartitionSpec spec = index.partitionSpec();
        List<PartitionPath> partitions = list(spec.partitions());
        begin(spec.partitionColumns(), partitions.size());
        StructField[] columns = spec.partitionColumns().fields();
        for (int i = 0; i < columns.length; i++) {
            Set<String> texts = found.get(columns[i].name());
            if (texts != null) {
                for (PartitionPath partition : partitions) {
                    texts.add(textOf(partition.values(), i, columns[i].dataType()));
                }
            }
        }
    }

    /** Takes partitions by their names in a metastore, for example `day=2026-01-31/city=Ulm`. */
    public void take(Seq<String> names, StructType types) {
        List<String> partitions = list(names);
        begin(types, partitions.size());
        if (found.isEmpty()) {
            return;
        }
        for (String partition : partitions) {
            map(PartitioningUtils.parsePathFragment(partition)).forEach((column, value) -> {
                Set<String> texts = found.get(column);
                if (texts != null) {
                    texts.add(NULL.equals(value) ? null : value);
                }
            });
        }
    }

    private void begin(StructType types, int partitions) {
        found = new LinkedHashMap<>();
        if (partitions > most) {
            return;
        }
        for (StructField column : types.fields()) {
            if (TYPES.contains(column.dataType().typeName())) {
                found.put(column.name(), new LinkedHashSet<>());
            }
        }
    }

    private static String textOf(InternalRow values, int place, DataType type) {
        if (values.isNullAt(place)) {
            return null;
        }
        Object value = values.get(place, type);
        return type.typeName().equals("date") ? LocalDate.ofEpochDay((Integer) value).toString() : value.toString();
    }
}
