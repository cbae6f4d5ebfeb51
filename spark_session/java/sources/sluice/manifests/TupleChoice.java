package sluice.manifests;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Snapshot;
import sluice.tuples.ScanTuples;
import sluice.tuples.TupleIndex;

/** Chooses the files of a scan that may have a row with a tuple of each filter. */
final class TupleChoice {

    private final CachedTable table;
    /** The ids of their columns. */
    private final Map<ScanTuples, List<Integer>> ids = new LinkedHashMap<>();
    private final Map<Integer, Predicate<DataFile>> bySpec = new HashMap<>();

    private TupleChoice(CachedTable table) {
        this.table = table;
    }

    /** Returns what chooses files of a snapshot. Filters on columns that the table has in another form choose none. */
    static TupleChoice of(CachedTable table, Snapshot snapshot) {
        TupleChoice found = new TupleChoice(table);
        for (ScanTuples each : table.tuplesAt(snapshot)) {
            List<Integer> columns = each.idsIn(table.loaded().schema());
            if (columns != null) {
                found.ids.put(each, columns);
            }
        }
        return found;
    }

    /** Returns these columns and those of the tuples. */
    Set<Integer> with(Set<Integer> columns) {
        Set<Integer> all = new HashSet<>(columns);
        ids.values().forEach(all::addAll);
        return all;
    }

    /** Returns which files of a spec are read. */
    Predicate<DataFile> ofSpec(int specId) {
        return bySpec.computeIfAbsent(specId, id -> {
            PartitionSpec spec = table.loaded().specsById().get(id);
            List<TupleIndex> found = ids.entrySet().stream().map(each -> each.getKey().index(each.getValue(), spec)).toList();
            return file -> found.stream().allMatch(index -> index.mayHaveRows(file));
        });
    }

    /** Notes that the files were chosen by them. */
    void noteUse() {
        ids.keySet().forEach(ScanTuples::noteUse);
    }
}
