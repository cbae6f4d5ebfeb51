package sluice.manifests;

import java.util.List;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.SerializableTable;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.encryption.PlaintextEncryptionManager;
import sluice.tuples.ScanTuples;

/** A table whose scans choose their files from entries in memory. In all other respects, it is the table itself. */
final class CachedTable extends BaseTable {

    private static final long serialVersionUID = 1;
    /** What a later version adds to manifests is not known here. */
    private static final int LAST_VERSION = 3;

    private final transient ManifestCache cache;
    private final transient TableMetadata loaded;
    private final transient TableState state;
    private final transient List<ScanTuples> tuples;

    private CachedTable(BaseTable table, TableMetadata loaded, ManifestCache cache, List<ScanTuples> tuples) {
        super(table.operations(), table.name(), table.reporter());
        this.cache = cache;
        this.loaded = loaded;
        this.state = TableState.of(loaded);
        this.tuples = tuples;
    }

    /** Returns the table with scans from memory; null if Iceberg has to plan them. `tuples` are those of the query. */
    static CachedTable of(Table table, ManifestCache cache, List<ScanTuples> tuples) {
        // Tables of other classes plan their scans in ways of their own: a REST catalog's server may do it.
        if (table.getClass() != BaseTable.class) {
            return null;
        }
        BaseTable base = (BaseTable) table;
        TableMetadata metadata = base.operations().current();
        boolean isSupported = metadata.formatVersion() <= LAST_VERSION
            && metadata.uuid() != null
            && base.encryption() instanceof PlaintextEncryptionManager;
        if (!isSupported) {
            return null;
        }
        return new CachedTable(base, metadata, cache, tuples);
    }

    TableState state() {
        return state;
    }

    ManifestCache cache() {
        return cache;
    }

    /** Returns the tuples that scans of this snapshot choose files by. */
    List<ScanTuples> tuplesAt(Snapshot snapshot) {
        return tuples.stream().filter(each -> each.isFor(name(), snapshot.snapshotId())).toList();
    }

    /** Returns what the query has seen of the table. Someone else may refresh the table since. */
    TableMetadata loaded() {
        return loaded;
    }

    /** Whether filters on this snapshot are about the columns of the table's schema, and its manifests have a list. */
    boolean canPlan(Snapshot snapshot) {
        if (snapshot.manifestListLocation() == null) {
            return false;
        }
        Snapshot current = loaded.currentSnapshot();
        if (current != null && snapshot.snapshotId() == current.snapshotId()) {
            return true;
        }
        return snapshot.schemaId() != null && snapshot.schemaId() == state.schema();
    }

    /** Comet asks this class, and not those above it, whether it has the method. */
    @Override
    public TableOperations operations() {
        return super.operations();
    }

    @Override
    public BatchScan newBatchScan() {
        return new CachedScan(super.newBatchScan(), this);
    }

    /** With it, Spark would not ask this table for its scan. */
    @Override
    public boolean allowDistributedPlanning() {
        return false;
    }

    private Object writeReplace() {
        return SerializableTable.copyOf(this);
    }
}
