package sluice.statements;

import static sluice.collections.Lists.list;

import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.ArrayRepeat;
import org.apache.spark.sql.catalyst.expressions.CaseWhen;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.Sequence;
import org.apache.spark.sql.catalyst.expressions.StringLPad;
import org.apache.spark.sql.catalyst.expressions.StringRPad;
import org.apache.spark.sql.catalyst.expressions.StringRepeat;
import org.apache.spark.sql.catalyst.expressions.StringReplace;
import org.apache.spark.sql.catalyst.expressions.StringSpace;
import org.apache.spark.sql.types.NumericType;

/** Estimates the bytes of a call's value from those of its operands. */
final class GrowingCalls {

    /** The bytes of a value that has no length of its own. */
    static final double FIXED_BYTES = 16;

    // A replacement up to this length counts as no growth: it may lengthen a text, but others are shortened.
    private static final double SHORT_BYTES = 16;
    private static final double NUMBER_BYTES = 8;
    private static final double SHORTEST_STEP = 1e-9;

    private final ColumnNumbers numbers;

    GrowingCalls(ColumnNumbers numbers) {
        this.numbers = numbers;
    }

    /** Returns the bytes of a value that has a length. `sizes` are the bytes of its operands. */
    double bytesOf(Expression call, double[] sizes) {
        if (call instanceof StringRepeat || call instanceof ArrayRepeat) {
            return Math.max(sizes[0], FIXED_BYTES) * Math.max(numberIn(call, 1), 1);
        }
        if (call instanceof StringLPad || call instanceof StringRPad) {
            return Math.max(numberIn(call, 1), 1);
        }
        if (call instanceof StringSpace) {
            return Math.max(numberIn(call, 0), 1);
        }
        if (call instanceof Sequence sequence) {
            return sequence.start().dataType() instanceof NumericType ? bytesOf(sequence) : sum(sizes);
        }
        if (call instanceof StringReplace) {
            return sizes[0] * Math.max(sizes[2] / SHORT_BYTES, 1);
        }
        boolean isChoice = call instanceof If || call instanceof CaseWhen || call instanceof Coalesce;
        return isChoice ? Arrays.stream(sizes).reduce(0, Math::max) : sum(sizes);
    }

    /** Adds from left to right: another order may round differently. */
    static double sum(double[] sizes) {
        double sum = 0;
        for (double size : sizes) {
            sum += size;
        }
        return sum;
    }

    private double bytesOf(Sequence sequence) {
        double range = numberIn(sequence, 1) - numberIn(sequence, 0);
        double step = list(sequence.children()).size() > 2 ? numberIn(sequence, 2) : 1;
        return Math.max(Math.abs(range / Math.max(Math.abs(step), SHORTEST_STEP)) * NUMBER_BYTES, 1);
    }

    /** Returns the number that a call has at this place, as far as the plan shows it; 1 where only the rows show it. */
    private double numberIn(Expression call, int place) {
        double found = numbers.of(list(call.children()).get(place));
        return Double.isNaN(found) ? 1 : found;
    }
}
