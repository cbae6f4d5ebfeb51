package sluice.plans;

import java.lang.reflect.Constructor;
import java.util.Set;
import org.apache.iceberg.BaseMetastoreTableOperations;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.encryption.PlaintextEncryptionManager;
import org.apache.iceberg.spark.TimeTravel;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import sluice.catalogs.SentCommits;
import sluice.scans.PackagePrivate;

/**
 * Stands in a kept plan for a table of Iceberg at one snapshot.
 *
 * <p>Spark's own table keeps the session that has used it, with that session's settings. So each query gets a new one.
 * No query runs with this class: it has no scans.
 */
final class TablePlace implements Table {

    private static final Constructor<SparkTable> CONSTRUCTOR = constructor();

    private final BaseTable table;
    private final Schema schema;
    private final Snapshot snapshot;
    private final TimeTravel timeTravel;

    private TablePlace(BaseTable table, Schema schema, Snapshot snapshot, TimeTravel timeTravel) {
        this.table = table;
        this.schema = schema;
        this.snapshot = snapshot;
        this.timeTravel = timeTravel;
    }

    private static Constructor<SparkTable> constructor() {
        try {
            Constructor<SparkTable> found = SparkTable.class.getDeclaredConstructor(
                org.apache.iceberg.Table.class, Schema.class, Snapshot.class, String.class, TimeTravel.class);
            found.setAccessible(true);
            return found;
        } catch (ReflectiveOperationException failure) {
            // Another version of Iceberg.
            return null;
        }
    }

    /**
     * Returns the place of a table; null if nobody may read the same object later.
     *
     * <p>Keys of encrypted tables expire, and so do the credentials that a REST catalog sends with a table. Tables of a
     * catalog without a server of its own (HadoopTables) are not known by one metadata file for each state. A branch
     * may move.
     */
    static TablePlace of(Table table) {
        if (CONSTRUCTOR == null
            || table.getClass() != SparkTable.class
            || ((SparkTable) table).table().getClass() != BaseTable.class) {
            return null;
        }
        BaseTable base = (BaseTable) ((SparkTable) table).table();
        boolean isLasting = isInCatalog(base.operations())
            && base.encryption() instanceof PlaintextEncryptionManager;
        try {
            Schema schema = (Schema) PackagePrivate.field(table, "schema");
            Snapshot snapshot = (Snapshot) PackagePrivate.field(table, "snapshot");
            TimeTravel timeTravel = (TimeTravel) PackagePrivate.field(table, "timeTravel");
            boolean isPinned = schema != null && snapshot != null && timeTravel != null
                && ((SparkTable) table).branch() == null;
            return isLasting && isPinned ? new TablePlace(base, schema, snapshot, timeTravel) : null;
        } catch (ReflectiveOperationException failure) {
            return null;
        }
    }

    /** Returns the table for one query. */
    SparkTable opened() {
        try {
            return CONSTRUCTOR.newInstance(table, schema, snapshot, null, timeTravel);
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException("Iceberg's table cannot be made again.", failure);
        }
    }

    TableMetadata metadata() {
        return table.operations().current();
    }

    @Override
    public String name() {
        return table.name();
    }

    @Override
    public Column[] columns() {
        return new Column[0];
    }

    @Override
    public Set<TableCapability> capabilities() {
        return Set.of();
    }

    private static boolean isInCatalog(TableOperations operations) {
        return operations instanceof BaseMetastoreTableOperations || operations instanceof SentCommits;
    }
}
