package sluice.scans;

import static sluice.collections.Lists.list;

import java.time.LocalDate;
import java.util.Arrays;
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

/**
 * The values that one listing of a table's partitions found in each of their columns, as text; NULL as null.
 *
 * A column has none if its type can be written in more than one way; no column has any if there are more than `most`
 * partitions.
 */
public final class PartitionValues {
    private static final String NULL = "__HIVE_DEFAULT_PARTITION__";
    private static final List TYPES =
        Arrays.asList(new Object[] {"byte", "short", "integer", "long", "date", "string", "boolean"});

    private final int most;
    private Map found = null;

    public PartitionValues(int most) {
        this.most = most;
    }

    /** Returns a set of texts by column; null when nothing was listed. */
    public Map found() {
        return found;
    }

    /** Partitions whose values Spark has read already. */
    public void take(PartitioningAwareFileIndex index) {
        PartitionSpec listed = index.partitionSpec();
        begin(listed.partitionColumns(), list(listed.partitions()).size());
        StructField[] columns = listed.partitionColumns().fields();
        for (int i = 0; i < columns.length; i++) {
            Set texts = (Set) found.get(columns[i].name());
            scala.collection.Iterator each = listed.partitions().iterator();
            while (texts != null && each.hasNext()) {
                InternalRow values = ((PartitionPath) each.next()).values();
                DataType type = columns[i].dataType();
                texts.add(values.isNullAt(i) ? null : textOf(values.get(i, type), type));
            }
        }
    }

    /** Partitions by the names in a metastore, for example `day=2026-01-31/city=Ulm`. */
    public void take(scala.collection.Iterable names, StructType types) {
        begin(types, names.size());
        scala.collection.Iterator each = names.iterator();
        while (!found.isEmpty() && each.hasNext()) {
            scala.collection.Iterator parts = PartitioningUtils.parsePathFragment((String) each.next()).iterator();
            while (parts.hasNext()) {
                scala.Tuple2 part = (scala.Tuple2) parts.next();
                Set texts = (Set) found.get(part._1());
                if (texts != null) {
                    texts.add(NULL.equals(part._2()) ? null : part._2());
                }
            }
        }
    }

    private void begin(StructType types, int partitions) {
        found = new LinkedHashMap();
        StructField[] columns = types.fields();
        for (int i = 0; i < columns.length && partitions <= most; i++) {
            if (TYPES.contains(columns[i].dataType().typeName())) {
                found.put(columns[i].name(), new LinkedHashSet());
            }
        }
    }

    private static String textOf(Object value, DataType type) {
        boolean isDay = type.typeName().equals("date");
        return isDay ? LocalDate.ofEpochDay(((Integer) value).longValue()).toString() : value.toString();
    }
}
