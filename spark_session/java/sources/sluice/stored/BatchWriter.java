package sluice.stored;

import java.io.IOException;
import java.nio.channels.Channels;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.WriteChannel;
import org.apache.arrow.vector.ipc.message.ArrowRecordBatch;
import org.apache.arrow.vector.ipc.message.MessageSerializer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.arrow.ArrowWriter;
import org.apache.spark.sql.execution.arrow.ArrowWriter$;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.ArrowUtils$;

/** Writes rows as Arrow messages, without a schema before them. */
final class BatchWriter implements AutoCloseable {

    /** The zone that PySpark gives timestamps in Arrow; the session's time zone is for rendering. */
    private static final String TIME_ZONE = "UTC";

    private final PartSink sink;
    private final WriteChannel channel;
    private final BufferAllocator allocator;
    private final VectorSchemaRoot vectors;
    private final BatchUnloader unloader;
    private final ArrowWriter writer;
    private int rows;

    BatchWriter(StructType rowType, boolean hasLargeTypes, PartSink sink) {
        this.sink = sink;
        channel = new WriteChannel(Channels.newChannel(sink));
        allocator = ArrowUtils$.MODULE$.rootAllocator().newChildAllocator("sluice result", 0, Long.MAX_VALUE);
        vectors = VectorSchemaRoot.create(
            ArrowUtils$.MODULE$.toArrowSchema(rowType, TIME_ZONE, false, hasLargeTypes), allocator);
        unloader = new BatchUnloader(vectors, allocator);
        writer = ArrowWriter$.MODULE$.create(vectors);
    }

    /** The rows that are not written yet. */
    int rows() {
        return rows;
    }

    /** The bytes of these rows; it takes a moment to count them. */
    long bytes() {
        return writer.sizeInBytes();
    }

    void add(InternalRow row) {
        writer.write(row);
        rows++;
    }

    /** Writes what was added. */
    Batch flush() {
        writer.finish();
        long offset = sink.position();
        long bytes = BatchSize.of(vectors);
        try (ArrowRecordBatch batch = unloader.batch()) {
            MessageSerializer.serialize(channel, batch);
        } catch (IOException failure) {
            throw new PartSink.CannotStore(failure);
        }
        Batch written = new Batch(offset, sink.position() - offset, rows, bytes);
        writer.reset();
        rows = 0;
        return written;
    }

    @Override
    public void close() {
        unloader.close();
        vectors.close();
        allocator.close();
    }
}
