package sluice.manifests;

import static sluice.collections.Lists.list;

import java.lang.reflect.Constructor;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.spark.TimeTravel;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import sluice.scans.PackagePrivate;
import sluice.tuples.ScanTuples;
import sluice.tuples.TupleSets;

/**
 * Lets the scans of queries plan their files from memory.
 *
 * <p>It runs just before Spark makes scans of the tables. Names, columns, snapshots and filters are those of the plan,
 * so whatever looks at plans sees the same tables as without it. Commands stay as they are: they may write.
 */
public final class CachedTables extends Rule<LogicalPlan> {

    /** Iceberg plans all scans of a session if this is `false`. */
    public static final String SWITCH = "spark.sluice.plansScansFromMemory";

    /** Spark keeps a node if the new one is equal, and tables are if they have the same name and snapshot. */
    private static final String DIFFERENCE = "sluice.plans-scans-from-memory";

    private final ManifestCache cache;

    public CachedTables(ManifestCache cache) {
        this.cache = cache;
    }

    @Override
    public LogicalPlan apply(LogicalPlan plan) {
        boolean isWanted = !"false".equals(conf().getConfString(SWITCH, "true"));
        return isWanted && !hasCommand(plan) ? replaced(plan) : plan;
    }

    private static boolean hasCommand(LogicalPlan plan) {
        return plan instanceof Command || list(plan.children()).stream().anyMatch(CachedTables::hasCommand);
    }

    LogicalPlan replaced(LogicalPlan plan) {
        if (!(plan instanceof DataSourceV2Relation relation)) {
            return plan.mapChildren(this::replaced);
        }
        SparkTable table = relation.table().getClass() == SparkTable.class ? copyOf((SparkTable) relation.table()) : null;
        if (table == null) {
            return plan;
        }
        DataSourceV2Relation found = relation.copy(
            table,
            relation.output(),
            relation.catalog(),
            relation.identifier(),
            withDifference(relation.options()),
            relation.timeTravelSpec());
        found.copyTagsFrom(relation);
        return found;
    }

    private static CaseInsensitiveStringMap withDifference(CaseInsensitiveStringMap options) {
        Map<String, String> all = new HashMap<>(options.asCaseSensitiveMap());
        all.put(DIFFERENCE, "true");
        return new CaseInsensitiveStringMap(all);
    }

    /** Returns the table at the same snapshot; null if Iceberg has to plan its scans. */
    private SparkTable copyOf(SparkTable table) {
        List<ScanTuples> tuples = cache.tuples().of(conf().getConfString(TupleSets.CONF, ""));
        CachedTable cached = CachedTable.of(table.table(), cache, tuples);
        if (cached == null) {
            return null;
        }
        try {
            Constructor<SparkTable> constructor = SparkTable.class.getDeclaredConstructor(
                Table.class, Schema.class, Snapshot.class, String.class, TimeTravel.class);
            constructor.setAccessible(true);
            return constructor.newInstance(
                cached,
                PackagePrivate.field(table, "schema"),
                PackagePrivate.field(table, "snapshot"),
                PackagePrivate.field(table, "branch"),
                PackagePrivate.field(table, "timeTravel"));
        } catch (ReflectiveOperationException failure) {
            // Another version of Iceberg.
            return null;
        }
    }
}
