package sluice.tuples;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.PartitionSpecParser;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import sluice.collections.BoundedEntries;
import sluice.scans.TableReferences;

/**
 * Sets of tuples that scans choose their files by, kept for later queries up to a number of bytes.
 *
 * <p>A query names those of its own in a setting of its session. Several threads may use it.
 */
public final class TupleSets {

    /** Has the name under which a query's tuples are known. */
    public static final String CONF = "spark.sluice.tuples";

    private final BoundedEntries entries = new BoundedEntries();
    private final Map<String, List<ScanTuples>> queries = new ConcurrentHashMap<>();

    private record IndexKey(String set, List<Integer> ids, String spec) {}

    /** Bounds the memory of all sets and of what is made of them. */
    public void keepAtMost(long bytesAtMost) {
        entries.keepAtMost(bytesAtMost);
    }

    /** Returns entries, bytes, hits, misses and evictions, with blanks in between. */
    public String use() {
        return entries.use();
    }

    /** Forgets all sets, and returns how many entries there were. A query that has one now keeps it. */
    public int clear() {
        return entries.clear();
    }

    /** Whether there is a set under this key now. */
    public boolean has(String key) {
        return entries.has(key);
    }

    /**
     * Keeps a set under a key that belongs to its contents.
     *
     * @param types Iceberg's names of the columns' types
     * @param stream the tuples in Arrow
     * @return false if it is too large
     */
    public boolean add(String key, String[] types, byte[] stream) throws Exception {
        return add(key, TupleStream.read(List.of(types), stream));
    }

    /** Keeps a set under a key that belongs to its contents; returns false if it is too large. */
    public boolean add(String key, TupleSet set) {
        entries.put(key, new BoundedEntries.Entry(set, set.bytes()));
        return entries.has(key);
    }

    /**
     * Whether an analyzed query refers to the table once, and reads it at this snapshot. Only then do the tuples of one
     * reference belong to all scans of the table.
     */
    public boolean isReadOnce(QueryExecution execution, String table, long snapshot) {
        List<DataSourceV2Relation> found = TableReferences.of(execution.analyzed(), table);
        return found.size() == 1
            && found.get(0).table() instanceof SparkTable read
            && read.snapshotId() != null
            && read.snapshotId() == snapshot;
    }

    /**
     * Lets the scans of a query choose their files by a set, if it is still kept.
     *
     * @param query the name under which the query's tuples are known
     * @return false if it is not kept any more
     */
    public boolean use(String query, String filter, String table, long snapshot, String[] columns, String key) {
        TupleSet set = (TupleSet) entries.find(key);
        if (set == null) {
            return false;
        }
        ScanTuples found = new ScanTuples(this, filter, table, snapshot, List.of(columns), key, set);
        queries.merge(query, List.of(found), (before, added) -> {
            List<ScanTuples> all = new ArrayList<>(before);
            all.addAll(added);
            return List.copyOf(all);
        });
        return true;
    }

    /** Returns the tuples of a query, by the name under which they are known. */
    public List<ScanTuples> of(String query) {
        return queries.getOrDefault(query, List.of());
    }

    /** Returns the filters whose tuples a query has chosen files by, with blanks in between. */
    public String used(String query) {
        return String.join(" ", ScanTuples.used(of(query)));
    }

    /** Forgets a query that has ended. */
    public void end(String query) {
        queries.remove(query);
    }

    TupleIndex index(String key, TupleSet set, List<Integer> ids, PartitionSpec spec) {
        return (TupleIndex) entries.get(new IndexKey(key, ids, PartitionSpecParser.toJson(spec)), () -> {
            TupleIndex made = new TupleIndex(set, ids, spec);
            return new BoundedEntries.Entry(made, made.bytes());
        });
    }
}
