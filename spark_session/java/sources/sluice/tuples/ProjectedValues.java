package sluice.tuples;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.expressions.BoundPredicate;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.expressions.UnboundPredicate;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.types.Types;

/**
 * The values that a partition field may have in files with the values of its source column.
 *
 * @param values the distinct values of the partition field
 * @param first for each value of the column, the place of the partition value that it belongs to
 * @param second the place of another one, or -1; null if no value has two. Old writers have put moments and days before
 *     1970 into the next partition, so Iceberg looks there as well
 */
record ProjectedValues(SortedValues values, int[] first, int[] second) {

    private static final int NONE = -1;
    private static final int MOST = 2;

    /** Returns null if files cannot be left out by this field. */
    static ProjectedValues of(PartitionField field, Types.NestedField source, SortedValues column) {
        if (field.transform().isIdentity()) {
            int[] same = new int[column.count()];
            Arrays.setAll(same, place -> place);
            return new ProjectedValues(column, same, null);
        }
        List<List<Object>> projected = new ArrayList<>();
        List<Object> all = new ArrayList<>();
        for (int place = 0; place < column.count(); place++) {
            List<Object> found = projected(field, source, column.value(place));
            if (found == null) {
                return null;
            }
            projected.add(found);
            all.addAll(found);
        }
        SortedValues values = SortedValues.of(field.transform().getResultType(source.type()), all.toArray());
        int[] first = new int[column.count()];
        int[] second = new int[column.count()];
        boolean hasTwo = false;
        for (int place = 0; place < first.length; place++) {
            List<Object> found = projected.get(place);
            first[place] = values.placeOf(found.get(0));
            second[place] = found.size() < MOST ? NONE : values.placeOf(found.get(1));
            hasTwo |= second[place] != NONE;
        }
        return new ProjectedValues(values, first, hasTwo ? second : null);
    }

    /** Returns what Iceberg compares with the partition values of files, for rows with this value; null if nothing. */
    private static List<Object> projected(PartitionField field, Types.NestedField source, Object value) {
        Expression bound = Expressions.equal(source.name(), value).bind(Types.StructType.of(source), true);
        if (!(bound instanceof BoundPredicate<?> equality)) {
            return null;
        }
        UnboundPredicate<?> found = project(field.transform(), field.name(), equality);
        if (found == null) {
            return null;
        }
        List<Object> values = new ArrayList<>();
        switch (found.op()) {
            case EQ -> values.add(found.literal().value());
            case IN -> {
                for (Literal<?> literal : found.literals()) {
                    values.add(literal.value());
                }
            }
            default -> {
                return null;
            }
        }
        return values.isEmpty() || values.size() > MOST ? null : values;
    }

    @SuppressWarnings("unchecked")
    private static <T> UnboundPredicate<?> project(Transform<?, ?> transform, String name, BoundPredicate<T> equality) {
        return ((Transform<T, ?>) transform).project(name, equality);
    }
}
