package sluice.files;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.function.IntFunction;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.iceberg.io.FileRange;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;

/**
 * A local file. Small reads go through a buffer; large ones do not. One thread uses it at a time.
 *
 * <p>An interrupt does not close the file, as it would with a channel. Bytes count in Hadoop's statistics, which Spark
 * takes a task's bytes from.
 */
final class LocalStream extends SeekableInputStream implements RangeReadable {

    private static final int BUFFER_BYTES = 8192;
    private static final FileSystem.Statistics STATISTICS =
        FileSystem.getStatistics("file", RawLocalFileSystem.class);

    private final File path;
    private RandomAccessFile file;
    private boolean isClosed;
    private long at;
    private byte[] buffer;
    private long bufferFrom;
    private int buffered;

    LocalStream(File path) {
        this.path = path;
    }

    /** Opens the file; otherwise, the first read does. */
    void open() throws IOException {
        if (isClosed) {
            throw new IOException("The stream is closed: " + path);
        }
        if (file == null) {
            file = new RandomAccessFile(path, "r");
        }
    }

    @Override
    public long getPos() {
        return at;
    }

    @Override
    public void seek(long position) throws IOException {
        open();
        if (position < 0 || position > file.length()) {
            throw new EOFException("Position " + position + " is not in " + path);
        }
        at = position;
    }

    @Override
    public int read() throws IOException {
        if (!isBuffered() && fill() < 0) {
            return -1;
        }
        return buffer[(int) (at++ - bufferFrom)] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        open();
        if (length == 0) {
            return 0;
        }
        if (!isBuffered()) {
            if (length >= BUFFER_BYTES) {
                int count = readAt(at, into, offset, length);
                at += Math.max(count, 0);
                return count;
            }
            if (fill() < 0) {
                return -1;
            }
        }
        int from = (int) (at - bufferFrom);
        int count = Math.min(length, buffered - from);
        System.arraycopy(buffer, from, into, offset, count);
        at += count;
        return count;
    }

    @Override
    public long skip(long count) throws IOException {
        open();
        long skipped = Math.max(0, Math.min(count, file.length() - at));
        at += skipped;
        return skipped;
    }

    @Override
    public int available() throws IOException {
        open();
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE, file.length() - at));
    }

    @Override
    public void readFully(long position, byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        open();
        int done = 0;
        while (done < length) {
            int count = readAt(position + done, into, offset + done, length - done);
            if (count < 0) {
                throw new EOFException("Not in " + path + ": " + length + " bytes from " + position);
            }
            done += count;
        }
    }

    @Override
    public int readTail(byte[] into, int offset, int length) throws IOException {
        open();
        int count = (int) Math.min(length, file.length());
        readFully(file.length() - count, into, offset, count);
        return count;
    }

    @Override
    public void readVectored(List<FileRange> ranges, IntFunction<ByteBuffer> allocate) throws IOException {
        Ranges.read(this, ranges, allocate);
    }

    @Override
    public void close() throws IOException {
        isClosed = true;
        buffer = null;
        buffered = 0;
        if (file != null) {
            file.close();
        }
    }

    private boolean isBuffered() {
        return at >= bufferFrom && at < bufferFrom + buffered;
    }

    private int fill() throws IOException {
        open();
        if (buffer == null) {
            buffer = new byte[BUFFER_BYTES];
        }
        bufferFrom = at;
        buffered = 0;
        int count = readAt(at, buffer, 0, BUFFER_BYTES);
        buffered = Math.max(count, 0);
        return count;
    }

    private int readAt(long position, byte[] into, int offset, int length) throws IOException {
        if (position < 0) {
            throw new EOFException("Position " + position + " is not in " + path);
        }
        file.seek(position);
        int count = file.read(into, offset, length);
        if (count > 0) {
            STATISTICS.incrementBytesRead(count);
        }
        return count;
    }
}
