package sluice.statements;

import static sluice.collections.Lists.list;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.ArrayRepeat;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.CaseWhen;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Multiply;
import org.apache.spark.sql.catalyst.expressions.Sequence;
import org.apache.spark.sql.catalyst.expressions.StringLPad;
import org.apache.spark.sql.catalyst.expressions.StringRPad;
import org.apache.spark.sql.catalyst.expressions.StringRepeat;
import org.apache.spark.sql.catalyst.expressions.StringReplace;
import org.apache.spark.sql.catalyst.expressions.StringSpace;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationDef;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoop;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoopRef;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.NumericType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Estimates the size of a column that is made of others, through all subqueries. Thirty steps of `x || x` make a text
 * of a billion parts, and an expression of as many once the optimizer has inlined one into the other.
 *
 * It counts uses of columns, or the bytes of a value if every column of a table held a text of COLUMN_BYTES.
 */
public final class ColumnGrowth {
    private static final double COLUMN_BYTES = 64;
    private static final double FIXED_BYTES = 16;
    // A replacement up to this length counts as no growth: it may lengthen a text, but others are shortened.
    private static final double SHORT_BYTES = 16;
    // Marks a recursion's own columns, to detect those that are used twice.
    private static final double RECURSIVE = 1e6;
    private static final double LEVELS = 100;
    private static final int FEW_ROWS = 1000;

    private final boolean isBytes;
    private final Map columns = new HashMap();
    private final Map numbers = new HashMap();
    private final Map relations = new HashMap();
    private double largest = 1;

    public ColumnGrowth(boolean isBytes) {
        this.isBytes = isBytes;
    }

    /** Returns the largest value of the analyzed plan. */
    public double largestIn(LogicalPlan plan) {
        visit(plan);
        return largest;
    }

    private void visit(LogicalPlan plan) {
        if (plan instanceof CTERelationRef) {
            share((scala.collection.Seq) relations.get(Long.valueOf(((CTERelationRef) plan).cteId())), plan.output());
            return;
        }
        if (plan instanceof UnionLoopRef) {
            mark(plan.output());
            return;
        }
        visitAll(plan.children());
        if (plan instanceof CTERelationDef) {
            relations.put(Long.valueOf(((CTERelationDef) plan).id()), plan.output());
        }
        measure(plan);
    }

    private void visitAll(scala.collection.Seq plans) {
        for (int pass = 0; pass < 2; pass++) {
            // Common table expressions come first, because the query reads their columns.
            for (int i = 0; i < plans.length(); i++) {
                LogicalPlan plan = (LogicalPlan) plans.apply(i);
                if ((plan instanceof CTERelationDef) == (pass == 0)) {
                    visit(plan);
                }
            }
        }
    }

    private void measure(LogicalPlan plan) {
        learnNumbers(plan);
        scala.collection.Seq expressions = plan.expressions();
        for (int i = 0; i < expressions.length(); i++) {
            Expression each = (Expression) expressions.apply(i);
            double size = sizeOf(each);
            if (each instanceof Alias) {
                put(((Alias) each).toAttribute(), size);
                learn(((Alias) each).toAttribute(), numberOf(((Alias) each).child()));
            }
            largest = Math.max(largest, size);
            if (plan instanceof Generate) {
                scala.collection.Seq made = ((Generate) plan).generatorOutput();
                for (int j = 0; j < made.length(); j++) {
                    put((Attribute) made.apply(j), size);
                }
            }
        }
        if (plan instanceof UnionLoop) {
            measureRecursion((UnionLoop) plan);
        } else if (plan instanceof Union) {
            for (int i = 0; i < list(plan.children()).size(); i++) {
                share(((LogicalPlan) list(plan.children()).get(i)).output(), plan.output());
            }
        }
    }

    /**
     * A text that each level makes of two copies of itself is too large after thirty; of one copy, it grows by the
     * level.
     */
    private void measureRecursion(UnionLoop loop) {
        scala.collection.Seq step = loop.recursion().output();
        for (int i = 0; i < list(loop.output()).size(); i++) {
            Attribute column = (Attribute) list(loop.output()).get(i);
            if (isBytes && isLong(column) && sizeOf((Attribute) step.apply(i)) >= 2 * RECURSIVE) {
                largest = 1e18;
            }
            put(column, isBytes ? LEVELS * COLUMN_BYTES : 1);
        }
    }

    /** Columns with another name for the same value: keeps the larger of the known sizes. */
    private void share(scala.collection.Seq from, scala.collection.Seq to) {
        for (int i = 0; from != null && i < to.length() && i < from.length(); i++) {
            Attribute column = (Attribute) to.apply(i);
            learn(column, numberOf((Attribute) from.apply(i)));
            put(column, Math.max(sizeOf((Attribute) from.apply(i)), known(column)));
        }
    }

    private void mark(scala.collection.Seq recursive) {
        for (int i = 0; i < recursive.length(); i++) {
            put((Attribute) recursive.apply(i), isBytes && isLong((Attribute) recursive.apply(i)) ? RECURSIVE : 1);
        }
    }

    private void put(Attribute column, double size) {
        columns.put(Long.valueOf(column.exprId().id()), Double.valueOf(Math.min(size, 1e18)));
    }

    private double known(Attribute column) {
        Double size = (Double) columns.get(Long.valueOf(column.exprId().id()));
        return size == null ? 0 : size.doubleValue();
    }

    private double sizeOf(Expression value) {
        double size = Math.min(rawSizeOf(value), 1e18);
        largest = Math.max(largest, size);
        return isBytes && !isLong(value) ? FIXED_BYTES : size;
    }

    private double rawSizeOf(Expression value) {
        if (value instanceof Attribute) {
            double size = known((Attribute) value);
            return size > 0 ? size : isBytes ? COLUMN_BYTES : 1;
        }
        if (value instanceof SubqueryExpression) {
            LogicalPlan plan = (LogicalPlan) ((SubqueryExpression) value).plan();
            visit(plan);
            return list(plan.output()).isEmpty() ? 1 : sizeOf((Attribute) list(plan.output()).get(0));
        }
        if (value instanceof Literal) {
            return bytesOf((Literal) value);
        }
        double[] sizes = new double[list(value.children()).size()];
        for (int i = 0; i < sizes.length; i++) {
            sizes[i] = sizeOf((Expression) list(value.children()).get(i));
        }
        if (isBytes) {
            return isLong(value) ? grown(value, sizes) : FIXED_BYTES;
        }
        // The optimizer inlines no expression through an aggregate.
        return value instanceof AggregateExpression ? 1 : sum(sizes);
    }

    private double grown(Expression value, double[] sizes) {
        if (value instanceof StringRepeat || value instanceof ArrayRepeat) {
            return Math.max(sizes[0], FIXED_BYTES) * Math.max(numberIn(value, 1), 1);
        }
        if (value instanceof StringLPad || value instanceof StringRPad) {
            return Math.max(numberIn(value, 1), 1);
        }
        if (value instanceof StringSpace) {
            return Math.max(numberIn(value, 0), 1);
        }
        if (value instanceof Sequence) {
            double count = numberIn(value, 1) - numberIn(value, 0);
            double step = list(value.children()).size() > 2 ? numberIn(value, 2) : 1;
            return isNumbers((Sequence) value) ? Math.max(Math.abs(count / Math.max(Math.abs(step), 1e-9)) * 8, 1) : sum(sizes);
        }
        if (value instanceof StringReplace) {
            return sizes[0] * Math.max(sizes[2] / SHORT_BYTES, 1);
        }
        boolean isChoice = value instanceof If || value instanceof CaseWhen || value instanceof Coalesce;
        return isChoice ? most(sizes) : sum(sizes);
    }

    private static boolean isNumbers(Sequence sequence) {
        return sequence.start().dataType() instanceof NumericType;
    }

    private static double sum(double[] sizes) {
        double sum = 0;
        for (int i = 0; i < sizes.length; i++) {
            sum += sizes[i];
        }
        return sum;
    }

    private static double most(double[] sizes) {
        double most = 0;
        for (int i = 0; i < sizes.length; i++) {
            most = Math.max(most, sizes[i]);
        }
        return most;
    }

    private double bytesOf(Literal literal) {
        if (!isBytes) {
            return 0;
        }
        return literal.value() instanceof UTF8String ? ((UTF8String) literal.value()).numBytes() : FIXED_BYTES;
    }

    /** Returns the number that a call has at this place, as far as the plan shows it; 1 where only the rows show it. */
    private double numberIn(Expression call, int place) {
        double found = numberOf((Expression) list(call.children()).get(place));
        return Double.isNaN(found) ? 1 : found;
    }

    private double numberOf(Expression value) {
        if (value instanceof Literal) {
            Object found = ((Literal) value).value();
            return found instanceof Number ? ((Number) found).doubleValue() : Double.NaN;
        }
        if (value instanceof Attribute) {
            Double found = (Double) numbers.get(Long.valueOf(((Attribute) value).exprId().id()));
            return found == null ? Double.NaN : found.doubleValue();
        }
        if (value instanceof Cast) {
            return numberOf(((Cast) value).child());
        }
        if (value instanceof Add || value instanceof Multiply) {
            double left = numberOf((Expression) list(value.children()).get(0));
            double right = numberOf((Expression) list(value.children()).get(1));
            return value instanceof Add ? left + right : left * right;
        }
        return Double.NaN;
    }

    /** Columns whose number ranges the plan shows: those of `range`, and of rows in the text. */
    private void learnNumbers(LogicalPlan plan) {
        if (plan instanceof Range) {
            Range range = (Range) plan;
            learn((Attribute) list(range.output()).get(0), Math.max((double) range.start(), (double) range.end()));
        } else if (plan instanceof LocalRelation && list(((LocalRelation) plan).data()).size() <= FEW_ROWS) {
            LocalRelation rows = (LocalRelation) plan;
            for (int i = 0; i < list(rows.output()).size(); i++) {
                learnColumn(rows, i, (Attribute) list(rows.output()).get(i));
            }
        }
    }

    private void learnColumn(LocalRelation rows, int place, Attribute column) {
        if (!(column.dataType() instanceof IntegralType)) {
            return;
        }
        double most = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < list(rows.data()).size(); i++) {
            Object value = ((InternalRow) list(rows.data()).get(i)).get(place, column.dataType());
            most = value == null ? most : Math.max(most, ((Number) value).doubleValue());
        }
        learn(column, most);
    }

    private void learn(Attribute column, double most) {
        if (!Double.isNaN(most)) {
            numbers.put(Long.valueOf(column.exprId().id()), Double.valueOf(most));
        }
    }

    /** Parts of a window's definition have no type: Scala throws a checked exception that it does not declare. */
    private static boolean isLong(Expression value) {
        DataType type;
        try {
            type = value.dataType();
        } catch (Exception untyped) {
            return false;
        }
        return type instanceof StringType || type instanceof BinaryType || type instanceof ArrayType
            || type instanceof MapType || type instanceof StructType;
    }
}
