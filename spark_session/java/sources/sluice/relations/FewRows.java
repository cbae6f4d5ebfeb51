package sluice.relations;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.InterpretedPredicate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import scala.Option;

/**
 * Filters known rows where only few of them can pass.
 *
 * <p>Spark compiles each new condition, with its literals, and evaluates it for all rows: TPC-DS has 73,000 days. Here
 * the few rows that have a value which the condition asks for are found by the order of a column, and the condition is
 * evaluated for these without being compiled.
 */
final class FewRows {

    /** For more rows, a condition is compiled. */
    private static final int MOST = 8192;

    private FewRows() {}

    /** Returns the rows that pass; null if they may be many, or if the condition might fail for a row. */
    static LocalRelation of(Filter filter, LocalRelation relation, KnownRows rows) {
        List<Attribute> columns = list(relation.output());
        Expression condition = RowKeys.placed(filter.condition(), columns);
        if (!ConditionRanges.isHarmless(condition)) {
            return null;
        }
        InternalRow[] candidates = candidates(condition, rows);
        if (candidates == null) {
            return null;
        }
        InterpretedPredicate predicate = new InterpretedPredicate(condition);
        predicate.initialize(0);
        List<InternalRow> found = new ArrayList<>();
        for (InternalRow row : candidates) {
            if (predicate.eval(row)) {
                found.add(row);
            }
        }
        return new LocalRelation(relation.output(), seq(found), false, Option.empty());
    }

    /** Returns the rows that may pass, in their order; null if they are many. */
    private static InternalRow[] candidates(Expression condition, KnownRows rows) {
        if (rows.rows().length <= MOST) {
            return rows.rows();
        }
        int[] fewest = null;
        for (Map.Entry<Integer, List<ValueRange>> column : ConditionRanges.of(condition).entrySet()) {
            SortedPlaces places = rows.sortedBy(column.getKey());
            if (places.count(column.getValue()) <= (fewest == null ? MOST : fewest.length - 1)) {
                fewest = places.within(column.getValue());
            }
        }
        return fewest == null
            ? null
            : Arrays.stream(fewest).mapToObj(place -> rows.rows()[place]).toArray(InternalRow[]::new);
    }
}
