package sluice.stored;

import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.IOUtil;
import org.apache.iceberg.io.SeekableInputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The objects of one result in an object store. A part is one object, which is there as a whole or not at all; no
 * store renames.
 */
record ObjectPrefix(FileIO files, String address) implements Place {

    static final String SCHEME = "s3://";

    private static final Logger LOG = LoggerFactory.getLogger(ObjectPrefix.class);
    private static final String FILE_IO = "org.apache.iceberg.aws.s3.S3FileIO";
    /** One client a process: each has threads and connections. */
    private static final Map<Map<String, String>, FileIO> OPEN = new ConcurrentHashMap<>();

    /** A call of the store's client. */
    private interface Call<T> {
        T now() throws IOException;
    }

    static ObjectPrefix at(String address, Map<String, String> properties) throws IOException {
        return new ObjectPrefix(
            answer(() -> OPEN.computeIfAbsent(properties, given -> CatalogUtil.loadFileIO(FILE_IO, given, null))),
            address);
    }

    @Override
    public void prepare() {
        // Objects need no folder.
    }

    @Override
    public PartFile create(String name) throws IOException {
        // Names are new: to ask whether one is taken would cost a request.
        OutputStream stream = answer(() -> files.newOutputFile(path(name)).createOrOverwrite());
        return new Upload(stream, name);
    }

    @Override
    public void read(String name, long offset, byte[] bytes) throws IOException {
        answer(() -> {
            try (SeekableInputStream stream = files.newInputFile(path(name)).newStream()) {
                stream.seek(offset);
                IOUtil.readFully(stream, bytes, 0, bytes.length);
            }
            return null;
        });
    }

    @Override
    public void delete(List<String> names) {
        for (String name : names) {
            try {
                remove(name);
            } catch (IOException failure) {
                return;
            }
        }
    }

    private void remove(String name) throws IOException {
        answer(() -> {
            files.deleteFile(path(name));
            return null;
        });
    }

    private String path(String name) {
        return address + "/" + name;
    }

    /** Runs the call; its failures are the store's. A missing class is one of a jar that the operator left out. */
    private static <T> T answer(Call<T> call) throws IOException {
        try {
            return call.now();
        } catch (IOException | RuntimeException | LinkageError failure) {
            // A task that is canceled is interrupted.
            if (!Thread.currentThread().isInterrupted()) {
                LOG.warn("The object store of results failed", failure);
            }
            throw new StoreFailure(failure);
        }
    }

    /** An object that is being uploaded. Its bytes wait on the local disk. */
    private final class Upload implements PartFile {

        private final OutputStream stream;
        private final String name;

        Upload(OutputStream stream, String name) {
            this.stream = stream;
            this.name = name;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            answer(() -> {
                stream.write(bytes, offset, length);
                return null;
            });
        }

        @Override
        public void complete() throws IOException {
            answer(() -> {
                stream.close();
                return null;
            });
        }

        @Override
        public void abandon() throws IOException {
            // The stream has no other end: it completes the object, which no manifest names.
            complete();
            remove(name);
        }
    }
}
