package sluice.statements;

import static sluice.collections.Lists.list;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Multiply;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.types.IntegralType;

/** The largest numbers of columns, as far as a plan shows them. */
final class ColumnNumbers {

    private static final int FEW_ROWS = 1000;

    private final Map<Long, Double> numbers = new HashMap<>();

    /** Records the number of a column; NaN: it is not known. */
    void learn(Attribute column, double most) {
        if (!Double.isNaN(most)) {
            numbers.put(column.exprId().id(), most);
        }
    }

    /** Records the columns whose number ranges a node shows: those of `range`, and of rows in the text. */
    void learn(LogicalPlan plan) {
        if (plan instanceof Range range) {
            learn(list(range.output()).get(0), Math.max((double) range.start(), (double) range.end()));
        } else if (plan instanceof LocalRelation relation && list(relation.data()).size() <= FEW_ROWS) {
            int place = 0;
            for (Attribute column : list(relation.output())) {
                learn(list(relation.data()), place, column);
                place++;
            }
        }
    }

    /** Returns the largest number of a value; NaN: only the rows show it. */
    double of(Expression value) {
        if (value instanceof Literal literal) {
            return literal.value() instanceof Number number ? number.doubleValue() : Double.NaN;
        }
        if (value instanceof Attribute column) {
            return numbers.getOrDefault(column.exprId().id(), Double.NaN);
        }
        if (value instanceof Cast cast) {
            return of(cast.child());
        }
        if (value instanceof Add sum) {
            return of(sum.left()) + of(sum.right());
        }
        if (value instanceof Multiply product) {
            return of(product.left()) * of(product.right());
        }
        return Double.NaN;
    }

    private void learn(List<InternalRow> rows, int place, Attribute column) {
        if (!(column.dataType() instanceof IntegralType)) {
            return;
        }
        double most = Double.NEGATIVE_INFINITY;
        for (InternalRow row : rows) {
            Object value = row.get(place, column.dataType());
            most = value == null ? most : Math.max(most, ((Number) value).doubleValue());
        }
        learn(column, most);
    }
}
