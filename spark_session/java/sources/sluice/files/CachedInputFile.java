package sluice.files;

import java.io.IOException;
import java.util.function.Supplier;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.SeekableInputStream;

/** An immutable file. It is read from memory, or from where it is, and then cached. */
final class CachedInputFile implements InputFile {

    private final FileCache cache;
    private final FileKey key;
    private final String location;
    private final boolean hasFooter;
    private final long mostBytes;
    private final Supplier<InputFile> open;
    private long length;
    private InputFile opened;

    /**
     * @param mostBytes the largest file that is cached as a whole; also the largest footer.
     * @param length -1: not known.
     * @param open makes the file itself.
     */
    CachedInputFile(
            FileCache cache,
            FileKey key,
            String location,
            boolean hasFooter,
            long mostBytes,
            long length,
            Supplier<InputFile> open) {
        this.cache = cache;
        this.key = key;
        this.location = location;
        this.hasFooter = hasFooter;
        this.mostBytes = cache.largest(mostBytes);
        this.length = length;
        this.open = open;
    }

    @Override
    public long getLength() {
        if (length < 0) {
            long cached = cache.sizeOf(key);
            length = cached < 0 ? file().getLength() : cached;
        }
        return length;
    }

    @Override
    public SeekableInputStream newStream() {
        CachedBytes found = cache.find(key, length);
        if (found != null && found.isWhole()) {
            return new MemoryStream(found.bytes());
        }
        if (found != null) {
            // What is cached may be gone a moment later.
            length = found.fileBytes();
        }
        InputFile source = LocalFile.of(file(), found != null);
        if (getLength() <= mostBytes) {
            byte[] all = readAll(source, (int) length);
            return all == null ? source.newStream() : new MemoryStream(all);
        }
        if (!hasFooter || mostBytes < FooterStream.END_BYTES) {
            return source.newStream();
        }
        FooterStream.Cached place = new FooterStream.Cached(cache, key, (int) mostBytes);
        return FooterStream.of(source.newStream(), length, found, place);
    }

    @Override
    public String location() {
        return location;
    }

    /** Asks the store: others may have deleted the file. */
    @Override
    public boolean exists() {
        return file().exists();
    }

    @Override
    public String toString() {
        return location;
    }

    private InputFile file() {
        if (opened == null) {
            opened = open.get();
        }
        return opened;
    }

    /** Returns all bytes, and caches them; null if they cannot be read now, or are not as many as they should be. */
    private byte[] readAll(InputFile source, int count) {
        long removals = cache.removals(key);
        try (SeekableInputStream stream = source.newStream()) {
            byte[] all = new byte[count];
            if (stream.readNBytes(all, 0, count) != count || stream.read() >= 0) {
                return null;
            }
            cache.put(key, new CachedBytes(count, all), removals);
            return all;
        } catch (IOException failure) {
            // Who reads the stream finds out in the usual way.
            return null;
        }
    }
}
