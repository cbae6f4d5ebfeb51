package sluice.tuples;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.types.Types.NestedField;

/** The tuples of one filter, for the scan of one table: no row without one of them is needed. */
public final class ScanTuples {

    private final TupleSets sets;
    private final String filter;
    private final String table;
    private final long snapshot;
    private final List<String> columns;
    private final String key;
    private final TupleSet set;
    private volatile boolean isUsed;

    ScanTuples(
            TupleSets sets, String filter, String table, long snapshot, List<String> columns, String key, TupleSet set) {
        this.sets = sets;
        this.filter = filter;
        this.table = table;
        this.snapshot = snapshot;
        this.columns = columns;
        this.key = key;
        this.set = set;
    }

    String filter() {
        return filter;
    }

    /** Whether it is for scans of this table at this snapshot. */
    public boolean isFor(String name, long snapshotId) {
        return table.equalsIgnoreCase(name) && snapshot == snapshotId;
    }

    /** Returns the ids of the tuples' columns in a schema; null if one is missing there, or is of another type. */
    public List<Integer> idsIn(Schema schema) {
        List<Integer> found = new ArrayList<>();
        for (int at = 0; at < columns.size(); at++) {
            NestedField field = schema.findField(columns.get(at));
            if (field == null || !field.type().equals(set.types().get(at))) {
                return null;
            }
            found.add(field.fieldId());
        }
        return found;
    }

    /** Returns what tells the files of a spec, by the tuples' columns with these ids. */
    public TupleIndex index(List<Integer> ids, PartitionSpec spec) {
        return sets.index(key, set, ids, spec);
    }

    /** Notes that a scan has chosen its files by these tuples. */
    public void noteUse() {
        isUsed = true;
    }

    static Set<String> used(List<ScanTuples> all) {
        Set<String> found = new TreeSet<>();
        all.stream().filter(each -> each.isUsed).forEach(each -> found.add(each.filter));
        return found;
    }
}
