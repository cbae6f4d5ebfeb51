package sluice.relations;

import static sluice.collections.Lists.map;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.internal.SQLConf;

/**
 * The settings of a session that may change what its expressions return.
 *
 * <p>Spark keeps most of them in the expressions, but not all. So every setting counts, except for those that are known
 * to be about something else, and that differ from query to query.
 */
final class RowSettings {

    private static final String ALL = "spark.sql.";
    private static final String CATALOGS = "spark.sql.catalog.";
    private static final Set<String> OTHERS = Set.of(
        "spark.sql.adaptive.enabled",
        "spark.sql.iceberg.aggregate-push-down.enabled",
        "spark.sql.optimizer.dynamicPartitionPruning.enabled",
        "spark.sql.optimizer.excludedRules",
        "spark.sql.shuffle.partitions",
        "spark.sql.sources.partitionOverwriteMode",
        "spark.sql.storeAssignmentPolicy");

    private RowSettings() {}

    static Map<String, String> of(SQLConf conf) {
        Map<String, String> found = new HashMap<>();
        map(conf.getAllConfs()).forEach((name, value) -> {
            if (name.startsWith(ALL) && !name.startsWith(CATALOGS) && !OTHERS.contains(name)) {
                found.put(name, value);
            }
        });
        return found;
    }
}
