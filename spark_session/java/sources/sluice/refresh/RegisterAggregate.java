package sluice.refresh;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.HyperLogLogPlusPlus;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/**
 * A step of Spark's `approx_count_distinct`, which can be kept and continued later.
 *
 * <p>Spark's own aggregate reads the values and estimates, so an estimate that is made in steps is the one of a single
 * run. Each register is the greatest value that was seen, so neither the order nor the number of steps matters.
 */
public final class RegisterAggregate extends ImperativeAggregate implements Serializable {

    private static final long serialVersionUID = 1;

    /** What is read, and what comes out. */
    public enum Step {
        /** From values to registers. */
        READ,
        /** From registers to registers. */
        MERGE,
        /** From registers to the estimate. */
        ESTIMATE
    }

    private final Expression child;
    private final double deviation;
    private final Step step;
    private final int mutableOffset;
    private final int inputOffset;
    private final HyperLogLogPlusPlus own;
    private final Registers registers;

    /** Spark copies expressions by this constructor, with the parts of the product. */
    public RegisterAggregate(Expression child, double deviation, Step step, int mutableOffset, int inputOffset) {
        this.child = child;
        this.deviation = deviation;
        this.step = step;
        this.mutableOffset = mutableOffset;
        this.inputOffset = inputOffset;
        own = new HyperLogLogPlusPlus(child, deviation, mutableOffset, inputOffset);
        registers = new Registers(mutableOffset, own.hllppHelper().numWords());
    }

    /** Returns the step with the arguments of a call: the values or registers, and perhaps the relative deviation. */
    static RegisterAggregate called(Step step, Seq<Expression> arguments) {
        List<Expression> given = list(arguments);
        double deviation = given.size() > 1
            ? HyperLogLogPlusPlus.validateDoubleLiteral(given.get(1))
            : HyperLogLogPlusPlus.apply$default$2();
        return new RegisterAggregate(given.get(0), deviation, step, 0, 0);
    }

    @Override
    public void update(InternalRow buffer, InternalRow row) {
        if (step == Step.READ) {
            own.update(buffer, row);
        } else if (child.eval(row) instanceof byte[] other) {
            registers.raise(buffer, other);
        }
    }

    @Override
    public Object eval(InternalRow buffer) {
        return step == Step.ESTIMATE ? own.eval(buffer) : registers.read(buffer);
    }

    @Override
    public void initialize(InternalRow buffer) {
        own.initialize(buffer);
    }

    @Override
    public void merge(InternalRow buffer, InternalRow other) {
        own.merge(buffer, other);
    }

    @Override
    public DataType dataType() {
        return step == Step.ESTIMATE ? DataTypes.LongType : DataTypes.BinaryType;
    }

    @Override
    public boolean nullable() {
        return false;
    }

    @Override
    public StructType aggBufferSchema() {
        return own.aggBufferSchema();
    }

    @Override
    public Seq<AttributeReference> aggBufferAttributes() {
        return own.aggBufferAttributes();
    }

    @Override
    public Seq<AttributeReference> inputAggBufferAttributes() {
        return own.inputAggBufferAttributes();
    }

    @Override
    public int mutableAggBufferOffset() {
        return mutableOffset;
    }

    @Override
    public int inputAggBufferOffset() {
        return inputOffset;
    }

    @Override
    public ImperativeAggregate withNewMutableAggBufferOffset(int offset) {
        return new RegisterAggregate(child, deviation, step, offset, inputOffset);
    }

    @Override
    public ImperativeAggregate withNewInputAggBufferOffset(int offset) {
        return new RegisterAggregate(child, deviation, step, mutableOffset, offset);
    }

    @Override
    public Seq<Expression> children() {
        return seq(List.of(child));
    }

    @Override
    public Expression withNewChildrenInternal(IndexedSeq<Expression> children) {
        return new RegisterAggregate(list(children).get(0), deviation, step, mutableOffset, inputOffset);
    }

    @Override
    public String prettyName() {
        return "registers_" + step.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public int productArity() {
        return 5;
    }

    @Override
    public Object productElement(int place) {
        return switch (place) {
            case 0 -> child;
            case 1 -> deviation;
            case 2 -> step;
            case 3 -> mutableOffset;
            case 4 -> inputOffset;
            default -> throw new IndexOutOfBoundsException(place);
        };
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof RegisterAggregate;
    }

    @Override
    public boolean equals(Object other) {
        return this == other
            || other instanceof RegisterAggregate that
            && child.equals(that.child)
            && deviation == that.deviation
            && step == that.step
            && mutableOffset == that.mutableOffset
            && inputOffset == that.inputOffset;
    }

    @Override
    public int hashCode() {
        return Objects.hash(child, deviation, step, mutableOffset, inputOffset);
    }
}
