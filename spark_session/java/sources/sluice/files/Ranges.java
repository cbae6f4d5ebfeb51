package sluice.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.iceberg.io.FileRange;
import org.apache.iceberg.io.RangeReadable;

/** Reads of several ranges. */
final class Ranges {

    private Ranges() {}

    /** Reads each range on its own. Iceberg's way fails with buffers outside of the heap. */
    static void read(RangeReadable from, List<FileRange> ranges, IntFunction<ByteBuffer> allocate) throws IOException {
        for (FileRange range : RangeReadable.sortRanges(ranges)) {
            ByteBuffer buffer = allocate.apply(range.length());
            if (buffer.hasArray()) {
                from.readFully(range.offset(), buffer.array(), buffer.arrayOffset(), range.length());
            } else {
                byte[] bytes = new byte[range.length()];
                from.readFully(range.offset(), bytes, 0, bytes.length);
                buffer.duplicate().put(bytes);
            }
            range.byteBuffer().complete(buffer);
        }
    }
}
