package sluice.files;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.apache.iceberg.io.RangeReadable;
import org.apache.iceberg.io.SeekableInputStream;

/** A Parquet file whose footer is read from memory, and cached by the first read of the file's end. */
class FooterStream extends SeekableInputStream {

    /** The size of the footer, and a magic word. */
    static final int END_BYTES = 8;
    private static final int WORD_BYTES = 4;
    /** Most footers are within it, so they take one read. */
    private static final int FIRST_READ_BYTES = 16 * 1024;

    private final SeekableInputStream file;
    private final long fileBytes;
    private final Cached cached;
    private CachedBytes footer;
    private boolean hasTried;
    private long at;

    /** Where a footer is cached, and the size of the largest that is. */
    record Cached(FileCache cache, FileKey key, int mostBytes) {}

    FooterStream(SeekableInputStream file, long fileBytes, CachedBytes footer, Cached cached) {
        this.file = file;
        this.fileBytes = fileBytes;
        this.footer = footer;
        this.cached = cached;
    }

    /** Returns the stream of a file. It reads ranges if the given one does. */
    static SeekableInputStream of(SeekableInputStream file, long fileBytes, CachedBytes footer, Cached cached) {
        return file instanceof RangeReadable ranges
            ? new FooterRangeStream(file, ranges, fileBytes, footer, cached)
            : new FooterStream(file, fileBytes, footer, cached);
    }

    @Override
    public long getPos() {
        return at;
    }

    @Override
    public void seek(long position) throws IOException {
        if (position < 0 || position > fileBytes) {
            // The file says what is wrong, in its own way.
            file.seek(position);
        }
        at = position;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        int count = read(one, 0, 1);
        return count < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, into.length);
        if (length == 0) {
            return 0;
        }
        if (at >= fileBytes) {
            // Some stores fail where a file has no bytes.
            return -1;
        }
        int count = copied(at, into, offset, length);
        if (count == 0) {
            if (file.getPos() != at) {
                file.seek(at);
            }
            count = file.read(into, offset, length);
        }
        at += Math.max(count, 0);
        return count;
    }

    @Override
    public long skip(long count) throws IOException {
        long skipped = Math.max(0, Math.min(count, fileBytes - at));
        at += skipped;
        return skipped;
    }

    @Override
    public int available() throws IOException {
        return footer != null && at >= footer.from() ? (int) (fileBytes - at) : 0;
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /** Copies bytes from the footer. Returns how many, up to the end of the file; 0: the file has to be read. */
    final int copied(long position, byte[] into, int offset, int length) throws IOException {
        if (position >= fileBytes || length == 0) {
            return 0;
        }
        if (footer == null && !hasTried && position >= fileBytes - END_BYTES) {
            hasTried = true;
            footer = readFooter();
        }
        if (footer == null || position < footer.from()) {
            return 0;
        }
        int count = (int) Math.min(length, fileBytes - position);
        System.arraycopy(footer.bytes(), (int) (position - footer.from()), into, offset, count);
        return count;
    }

    private CachedBytes readFooter() throws IOException {
        long removals = cached.cache().removals(cached.key());
        byte[] last = lastBytes((int) Math.min(fileBytes, FIRST_READ_BYTES));
        long footerBytes = last == null ? -1 : footerBytes(last);
        if (footerBytes < 0 || footerBytes > Math.min(fileBytes, cached.mostBytes())) {
            return null;
        }
        int wanted = (int) footerBytes;
        byte[] all = wanted <= last.length
            ? Arrays.copyOfRange(last, last.length - wanted, last.length)
            : lastBytes(wanted);
        if (all == null) {
            return null;
        }
        CachedBytes read = new CachedBytes(fileBytes, all);
        cached.cache().put(cached.key(), read, removals);
        return read;
    }

    /** Returns the size of the footer with all that follows it; -1: the file does not end like one of Parquet. */
    private static long footerBytes(byte[] last) {
        if (last.length < END_BYTES) {
            return -1;
        }
        String magic = new String(last, last.length - WORD_BYTES, WORD_BYTES, StandardCharsets.US_ASCII);
        if (!magic.equals("PAR1") && !magic.equals("PARE")) {
            return -1;
        }
        int size = ByteBuffer.wrap(last).order(ByteOrder.LITTLE_ENDIAN).getInt(last.length - END_BYTES);
        return size < 0 ? -1 : (long) size + END_BYTES;
    }

    /** Returns the last bytes of the file; null if it ends elsewhere than it should. */
    private byte[] lastBytes(int count) throws IOException {
        byte[] bytes = new byte[count];
        file.seek(fileBytes - count);
        return file.readNBytes(bytes, 0, count) == count && file.read() < 0 ? bytes : null;
    }
}
