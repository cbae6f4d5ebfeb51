package sluice.stored;

import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseLargeVariableWidthVector;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.ipc.message.ArrowFieldNode;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;

/**
 * Makes record batches that every reader can take.
 *
 * <p>Arrow's own unloader leaves out the offsets of vectors without values. PyArrow takes them to be there, and reads
 * memory that is not.
 */
final class BatchUnloader implements AutoCloseable {

    private static final int WIDEST_OFFSET = 8;

    private final VectorSchemaRoot rows;
    private final ArrowBuf noOffsets;

    BatchUnloader(VectorSchemaRoot rows, BufferAllocator allocator) {
        this.rows = rows;
        noOffsets = allocator.buffer(WIDEST_OFFSET);
        noOffsets.setZero(0, WIDEST_OFFSET);
        noOffsets.writerIndex(WIDEST_OFFSET);
    }

    /** Returns the rows as a batch, which the caller closes. */
    ArrowRecordBatch batch() {
        List<ArrowFieldNode> nodes = new ArrayList<>();
        List<ArrowBuf> buffers = new ArrayList<>();
        rows.getFieldVectors().forEach(vector -> append(vector, nodes, buffers));
        return new ArrowRecordBatch(rows.getRowCount(), nodes, buffers);
    }

    @Override
    public void close() {
        noOffsets.close();
    }

    private void append(FieldVector vector, List<ArrowFieldNode> nodes, List<ArrowBuf> buffers) {
        nodes.add(new ArrowFieldNode(vector.getValueCount(), vector.getNullCount()));
        List<ArrowBuf> own = new ArrayList<>(vector.getFieldBuffers());
        if (vector.getValueCount() == 0 && hasOffsets(vector)) {
            own.set(1, noOffsets);
        }
        buffers.addAll(own);
        vector.getChildrenFromFields().forEach(child -> append(child, nodes, buffers));
    }

    private static boolean hasOffsets(FieldVector vector) {
        return vector instanceof BaseVariableWidthVector
            || vector instanceof BaseLargeVariableWidthVector
            || vector instanceof ListVector;
    }
}
