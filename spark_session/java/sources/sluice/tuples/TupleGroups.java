package sluice.tuples;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.types.Types;

/** Tuples in groups, one for each partition that may have rows with them. A tuple may be in several groups. */
final class TupleGroups {

    /** No tuple is in this partition. */
    static final int NONE = -1;

    private final List<Part> parts = new ArrayList<>();
    private final Set<Integer> grouped = new HashSet<>();
    /** The tuples of the first group, then those of the next. */
    private int[] tuples;
    private int[] groups;
    private int[] starts;

    /**
     * A partition field whose source column the tuples have.
     *
     * @param pairs for each group so far that goes on with a value of this field, both in one number, in order. The
     *     place of a pair is the number of the group from here on
     */
    private record Part(int position, SortedValues values, long[] pairs) {}

    /** Groups the tuples, whose columns have these ids, by the partition fields of a spec. */
    TupleGroups(TupleSet set, List<Integer> ids, PartitionSpec spec) {
        tuples = new int[set.count()];
        groups = new int[set.count()];
        Arrays.setAll(tuples, tuple -> tuple);
        for (int position = 0; position < spec.fields().size(); position++) {
            PartitionField field = spec.fields().get(position);
            int column = ids.indexOf(field.sourceId());
            if (column < 0 || field.transform().isVoid()) {
                continue;
            }
            Types.NestedField source = spec.schema().findField(field.sourceId());
            ProjectedValues projected = ProjectedValues.of(field, source, set.values(column));
            if (projected != null) {
                divide(position, projected, set.places(column));
                if (field.transform().isIdentity()) {
                    grouped.add(column);
                }
            }
        }
        sort();
    }

    /** Divides each group by the values of one more partition field. */
    private void divide(int position, ProjectedValues projected, int[] places) {
        int firsts = tuples.length;
        if (projected.second() != null) {
            addSeconds(projected.second(), places);
        }
        long values = projected.values().count();
        long[] pairs = new long[tuples.length];
        for (int at = 0; at < tuples.length; at++) {
            int place = places[tuples[at]];
            int value = at < firsts ? projected.first()[place] : projected.second()[place];
            pairs[at] = groups[at] * values + value;
        }
        long[] distinct = SortedValues.distinct(pairs);
        for (int at = 0; at < tuples.length; at++) {
            groups[at] = Arrays.binarySearch(distinct, pairs[at]);
        }
        parts.add(new Part(position, projected.values(), distinct));
    }

    /** Adds each tuple with two partition values a second time, at the end. */
    private void addSeconds(int[] second, int[] places) {
        int count = tuples.length;
        int added = 0;
        for (int tuple : tuples) {
            added += second[places[tuple]] < 0 ? 0 : 1;
        }
        tuples = Arrays.copyOf(tuples, count + added);
        groups = Arrays.copyOf(groups, count + added);
        int next = count;
        for (int at = 0; at < count; at++) {
            if (second[places[tuples[at]]] >= 0) {
                tuples[next] = tuples[at];
                groups[next++] = groups[at];
            }
        }
    }

    /** Brings the tuples into the order of their groups. */
    private void sort() {
        int count = parts.isEmpty() ? 1 : parts.get(parts.size() - 1).pairs().length;
        starts = new int[count + 1];
        for (int group : groups) {
            starts[group + 1]++;
        }
        for (int group = 0; group < count; group++) {
            starts[group + 1] += starts[group];
        }
        int[] next = starts.clone();
        int[] ordered = new int[tuples.length];
        for (int at = 0; at < tuples.length; at++) {
            ordered[next[groups[at]]++] = tuples[at];
        }
        tuples = ordered;
        groups = null;
    }

    /** Returns the group of a partition; `NONE` if no tuple is in it. */
    int groupOf(StructLike partition) {
        int group = 0;
        for (Part part : parts) {
            Object value = partition.get(part.position(), Object.class);
            int place = value == null ? NONE : part.values().placeOf(value);
            if (place < 0) {
                // Rows of a partition without a value have none in the column, and NULL equals nothing.
                return NONE;
            }
            group = Arrays.binarySearch(part.pairs(), (long) group * part.values().count() + place);
            if (group < 0) {
                return NONE;
            }
        }
        return group;
    }

    /** Returns the tuples of all groups, one group after the other. They may be brought into another order in each. */
    int[] tuples() {
        return tuples;
    }

    int count() {
        return starts.length - 1;
    }

    /** Returns where the tuples of a group begin; the next group begins where they end. */
    int start(int group) {
        return starts[group];
    }

    /** Whether all tuples of a group have the same value in this column. */
    boolean isGroupedBy(int column) {
        return grouped.contains(column);
    }

    long bytes() {
        long bytes = (long) Integer.BYTES * (tuples.length + starts.length);
        for (Part part : parts) {
            bytes += (long) Long.BYTES * part.pairs().length + part.values().bytes();
        }
        return bytes;
    }
}
