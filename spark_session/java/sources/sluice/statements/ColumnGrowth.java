package sluice.statements;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationDef;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoop;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoopRef;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Estimates the size of a column that is made of others, through all subqueries. Thirty steps of `x || x` make a text
 * of a billion parts, and an expression of as many once the optimizer has inlined one into the other.
 *
 * <p>It counts uses of columns, or the bytes of a value if every column of a table held a text of COLUMN_BYTES.
 */
public final class ColumnGrowth {

    private static final double COLUMN_BYTES = 64;
    private static final double LARGEST = 1e18;
    // Marks a recursion's own columns, to detect those that are used twice.
    private static final double RECURSIVE = 1e6;
    private static final double LEVELS = 100;

    private final boolean isBytes;
    private final ColumnNumbers numbers = new ColumnNumbers();
    private final GrowingCalls calls = new GrowingCalls(numbers);
    /** Sizes by the columns' ids. */
    private final Map<Long, Double> columns = new HashMap<>();
    /** The columns of common table expressions by their ids. */
    private final Map<Long, List<Attribute>> relations = new HashMap<>();
    private double largest = 1;

    /** `isBytes`: count bytes of values, not uses of columns. */
    public ColumnGrowth(boolean isBytes) {
        this.isBytes = isBytes;
    }

    /** Returns the largest value of the analyzed plan. */
    public double largestIn(LogicalPlan plan) {
        visit(plan);
        return largest;
    }

    private void visit(LogicalPlan plan) {
        if (plan instanceof CTERelationRef reference) {
            List<Attribute> defined = relations.get(reference.cteId());
            if (defined != null) {
                share(defined, list(plan.output()));
            }
            return;
        }
        if (plan instanceof UnionLoopRef) {
            list(plan.output()).forEach(column -> put(column, isBytes && isLong(column) ? RECURSIVE : 1));
            return;
        }
        visitAll(list(plan.children()));
        if (plan instanceof CTERelationDef definition) {
            relations.put(definition.id(), list(plan.output()));
        }
        measure(plan);
    }

    /** Common table expressions come first, because the query reads their columns. */
    private void visitAll(List<LogicalPlan> plans) {
        for (LogicalPlan plan : plans) {
            if (plan instanceof CTERelationDef) {
                visit(plan);
            }
        }
        for (LogicalPlan plan : plans) {
            if (!(plan instanceof CTERelationDef)) {
                visit(plan);
            }
        }
    }

    private void measure(LogicalPlan plan) {
        numbers.learn(plan);
        for (Expression each : list(plan.expressions())) {
            double size = sizeOf(each);
            if (each instanceof Alias alias) {
                put(alias.toAttribute(), size);
                numbers.learn(alias.toAttribute(), numbers.of(alias.child()));
            }
            largest = Math.max(largest, size);
            if (plan instanceof Generate generate) {
                list(generate.generatorOutput()).forEach(made -> put(made, size));
            }
        }
        if (plan instanceof UnionLoop loop) {
            measureRecursion(loop);
        } else if (plan instanceof Union) {
            for (LogicalPlan branch : list(plan.children())) {
                share(list(branch.output()), list(plan.output()));
            }
        }
    }

    /**
     * A text that each level makes of two copies of itself is too large after thirty; of one copy, it grows by the
     * level.
     */
    private void measureRecursion(UnionLoop loop) {
        List<Attribute> step = new ArrayList<>(list(loop.recursion().output()));
        int place = 0;
        for (Attribute column : list(loop.output())) {
            if (isBytes && isLong(column) && sizeOf(step.get(place)) >= 2 * RECURSIVE) {
                largest = LARGEST;
            }
            put(column, isBytes ? LEVELS * COLUMN_BYTES : 1);
            place++;
        }
    }

    /** Columns with another name for the same value: keeps the larger of the known sizes. */
    private void share(List<Attribute> from, List<Attribute> to) {
        List<Attribute> sources = new ArrayList<>(from);
        List<Attribute> targets = new ArrayList<>(to);
        for (int i = 0; i < targets.size() && i < sources.size(); i++) {
            numbers.learn(targets.get(i), numbers.of(sources.get(i)));
            put(targets.get(i), Math.max(sizeOf(sources.get(i)), known(targets.get(i))));
        }
    }

    private void put(Attribute column, double size) {
        columns.put(column.exprId().id(), Math.min(size, LARGEST));
    }

    private double known(Attribute column) {
        return columns.getOrDefault(column.exprId().id(), 0.0);
    }

    private double sizeOf(Expression value) {
        double size = Math.min(rawSizeOf(value), LARGEST);
        largest = Math.max(largest, size);
        return isBytes && !isLong(value) ? GrowingCalls.FIXED_BYTES : size;
    }

    private double rawSizeOf(Expression value) {
        if (value instanceof Attribute column) {
            double ofTable = isBytes ? COLUMN_BYTES : 1;
            return known(column) > 0 ? known(column) : ofTable;
        }
        if (value instanceof SubqueryExpression query) {
            visit(query.plan());
            List<Attribute> output = list(query.plan().output());
            return output.isEmpty() ? 1 : sizeOf(output.get(0));
        }
        if (value instanceof Literal literal) {
            return isBytes ? bytesOf(literal) : 0;
        }
        double[] sizes = sizesOf(list(value.children()));
        if (isBytes) {
            return isLong(value) ? calls.bytesOf(value, sizes) : GrowingCalls.FIXED_BYTES;
        }
        // The optimizer inlines no expression through an aggregate.
        return value instanceof AggregateExpression ? 1 : GrowingCalls.sum(sizes);
    }

    private double[] sizesOf(List<Expression> values) {
        double[] sizes = new double[values.size()];
        int place = 0;
        for (Expression value : values) {
            sizes[place++] = sizeOf(value);
        }
        return sizes;
    }

    private static double bytesOf(Literal literal) {
        return literal.value() instanceof UTF8String text ? text.numBytes() : GrowingCalls.FIXED_BYTES;
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
