package sluice.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.function.IntFunction;
import org.apache.iceberg.io.FileRange;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;

/** The same for a file that can read ranges. Those of data go to the file, so it may read several at a time. */
final class FooterRangeStream extends FooterStream implements RangeReadable {

    private final RangeReadable ranges;

    FooterRangeStream(
            SeekableInputStream file, RangeReadable ranges, long fileBytes, CachedBytes footer, Cached cached) {
        super(file, fileBytes, footer, cached);
        this.ranges = ranges;
    }

    @Override
    public void readFully(long position, byte[] into, int offset, int length) throws IOException {
        if (length == 0 || copied(position, into, offset, length) != length) {
            ranges.readFully(position, into, offset, length);
        }
    }

    @Override
    public int readTail(byte[] into, int offset, int length) throws IOException {
        return ranges.readTail(into, offset, length);
    }

    @Override
    public void readVectored(List<FileRange> wanted, IntFunction<ByteBuffer> allocate) throws IOException {
        ranges.readVectored(wanted, allocate);
    }
}
