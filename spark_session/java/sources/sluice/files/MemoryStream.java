package sluice.files;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import org.apache.iceberg.io.FileRange;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;

/** A whole file in memory. */
final class MemoryStream extends SeekableInputStream implements RangeReadable {

    private final byte[] bytes;
    private int at;
    private boolean isClosed;

    MemoryStream(byte[] bytes) {
        this.bytes = bytes;
    }

    @Override
    public long getPos() {
        return at;
    }

    @Override
    public void seek(long position) throws IOException {
        checkOpen();
        if (position < 0 || position > bytes.length) {
            throw new EOFException("Position " + position + " is not in a file of " + bytes.length + " bytes");
        }
        at = (int) position;
    }

    @Override
    public int read() throws IOException {
        checkOpen();
        return at < bytes.length ? bytes[at++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        checkOpen();
        Objects.checkFromIndexSize(offset, length, into.length);
        if (length == 0) {
            return 0;
        }
        if (at >= bytes.length) {
            return -1;
        }
        int count = Math.min(length, bytes.length - at);
        System.arraycopy(bytes, at, into, offset, count);
        at += count;
        return count;
    }

    @Override
    public long skip(long count) throws IOException {
        checkOpen();
        int skipped = (int) Math.max(0, Math.min(count, bytes.length - at));
        at += skipped;
        return skipped;
    }

    @Override
    public int available() throws IOException {
        checkOpen();
        return bytes.length - at;
    }

    @Override
    public void readFully(long position, byte[] into, int offset, int length) throws IOException {
        checkOpen();
        Objects.checkFromIndexSize(offset, length, into.length);
        if (position < 0 || position > bytes.length - length) {
            throw new EOFException("Not in a file of " + bytes.length + " bytes: " + length + " from " + position);
        }
        System.arraycopy(bytes, (int) position, into, offset, length);
    }

    @Override
    public int readTail(byte[] into, int offset, int length) throws IOException {
        int count = Math.min(length, bytes.length);
        readFully(bytes.length - (long) count, into, offset, count);
        return count;
    }

    @Override
    public void readVectored(List<FileRange> ranges, IntFunction<ByteBuffer> allocate) throws IOException {
        Ranges.read(this, ranges, allocate);
    }

    @Override
    public void close() {
        isClosed = true;
    }

    private void checkOpen() throws IOException {
        if (isClosed) {
            throw new IOException("The stream is closed");
        }
    }
}
