package sluice.stored;

import org.apache.arrow.vector.BaseFixedWidthVector;
import org.apache.arrow.vector.BaseLargeVariableWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** Counts the bytes of rows as PyArrow's `nbytes` does, so that a limit means the same wherever rows lie. */
final class BatchSize {

    private static final int BITS = 8;

    private BatchSize() {}

    static long of(VectorSchemaRoot rows) {
        return rows.getFieldVectors().stream().mapToLong(BatchSize::of).sum();
    }

    private static long of(FieldVector vector) {
        int count = vector.getValueCount();
        // Whether structs are NULL does not count there, and a void has no bits for it.
        boolean hasValidity = vector.getNullCount() > 0 && !(vector instanceof StructVector)
            && !(vector instanceof NullVector);
        long validity = hasValidity ? bits(count) : 0;
        long children = vector.getChildrenFromFields().stream().mapToLong(BatchSize::of).sum();
        return validity + values(vector, count) + children;
    }

    private static long values(FieldVector vector, int count) {
        if (vector instanceof BitVector) {
            return bits(count);
        }
        if (vector instanceof BaseFixedWidthVector fixed) {
            return (long) count * fixed.getTypeWidth();
        }
        if (vector instanceof BaseVariableWidthVector texts) {
            return offsets(count, BaseVariableWidthVector.OFFSET_WIDTH) + texts.sizeOfValueBuffer();
        }
        if (vector instanceof BaseLargeVariableWidthVector texts) {
            return offsets(count, BaseLargeVariableWidthVector.OFFSET_WIDTH) + texts.sizeOfValueBuffer();
        }
        // A map is a list, too.
        return vector instanceof ListVector ? offsets(count, ListVector.OFFSET_WIDTH) : 0;
    }

    private static long bits(int count) {
        return (count + BITS - 1) / BITS;
    }

    /** The offset after the last value does not count, so that batches add up to what they are together. */
    private static long offsets(int count, int width) {
        return (long) count * width;
    }
}
