package sluice.tuples;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.types.Conversions;

/**
 * Tells which files of one partition spec may have a row with one of the tuples: by their partition, and by the bounds
 * of their columns. It leaves out a file exactly if Iceberg would leave it out for each of the tuples alone.
 */
public final class TupleIndex {

    /** Enough for millions of tuples, unless files are bounded by more than three columns that do not partition them. */
    private static final int MOST_STEPS = 100_000;

    private final TupleSet set;
    private final List<Integer> ids;
    private final TupleGroups groups;
    private final TupleTree tree;

    /** Indexes the tuples, whose columns have these ids, for the files of a spec. */
    TupleIndex(TupleSet set, List<Integer> ids, PartitionSpec spec) {
        this.set = set;
        this.ids = ids;
        this.groups = new TupleGroups(set, ids, spec);
        int[] dividing = IntStream.range(0, ids.size()).filter(column -> !groups.isGroupedBy(column)).toArray();
        int[][] places = IntStream.range(0, ids.size()).mapToObj(set::places).toArray(int[][]::new);
        this.tree = new TupleTree(groups.tuples(), places, dividing);
        for (int group = 0; group < groups.count(); group++) {
            tree.arrange(groups.start(group), groups.start(group + 1));
        }
    }

    /** Whether the file may have a row with one of the tuples. True, too, if it would take too long to find out. */
    public boolean mayHaveRows(DataFile file) {
        if (file.recordCount() == 0) {
            return false;
        }
        int group = groups.groupOf(file.partition());
        if (group == TupleGroups.NONE) {
            return false;
        }
        int[] lower = new int[ids.size()];
        int[] upper = new int[ids.size()];
        for (int column = 0; column < lower.length; column++) {
            if (file.recordCount() > 0 && hasOnlyNulls(file, ids.get(column))) {
                return false;
            }
            SortedValues values = set.values(column);
            // A negative count is not known, and neither are the bounds then.
            Object least = file.recordCount() < 0 ? null : bound(file.lowerBounds(), column);
            Object greatest = file.recordCount() < 0 ? null : bound(file.upperBounds(), column);
            lower[column] = least == null ? 0 : values.below(least);
            upper[column] = greatest == null ? values.count() : values.upTo(greatest);
            if (lower[column] >= upper[column]) {
                return false;
            }
        }
        return tree.mayHaveOne(groups.start(group), groups.start(group + 1), lower, upper, MOST_STEPS);
    }

    private Object bound(Map<Integer, ByteBuffer> bounds, int column) {
        ByteBuffer found = bounds == null ? null : bounds.get(ids.get(column));
        return found == null ? null : Conversions.fromByteBuffer(set.types().get(column), found);
    }

    private static boolean hasOnlyNulls(DataFile file, int id) {
        Long values = file.valueCounts() == null ? null : file.valueCounts().get(id);
        Long nulls = file.nullValueCounts() == null ? null : file.nullValueCounts().get(id);
        return values != null && nulls != null && values - nulls == 0;
    }

    /** Returns about how much memory it takes, without the tuples themselves. */
    long bytes() {
        return groups.bytes();
    }
}
