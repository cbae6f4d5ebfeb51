package sluice.stored;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.spark.deploy.SparkHadoopUtil;

/** The folder of one result. */
record Folder(FileSystem system, Path path) implements Place {

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int WRITTEN_AT_ONCE = 1 << 18;

    static Folder at(String address) throws IOException {
        Path path = new Path(URI.create(address));
        FileSystem system = path.getFileSystem(SparkHadoopUtil.get().conf());
        // A checksum file beside each file would only be in the way: nobody reads it.
        return new Folder(system instanceof LocalFileSystem local ? local.getRaw() : system, path);
    }

    @Override
    public void prepare() throws IOException {
        system.mkdirs(path);
    }

    @Override
    public PartFile create(String name) throws IOException {
        return new Staged(new BufferedOutputStream(created(temporary(name)), WRITTEN_AT_ONCE), name);
    }

    @Override
    public void read(String name, long offset, byte[] bytes) throws IOException {
        try (FSDataInputStream file = system.open(new Path(path, name))) {
            file.readFully(offset, bytes);
        }
    }

    /**
     * Creates a file, and never its folder: a query that has ended has removed that.
     *
     * <p>On a local disk, the process's own mask decides on permissions: to set them, Hadoop would start a process. Its
     * other methods of this name create the folder there, whatever they are called.
     */
    private OutputStream created(Path file) throws IOException {
        FsPermission permission = system instanceof RawLocalFileSystem ? null : FsPermission.getFileDefault();
        return system.createNonRecursive(file, permission, EnumSet.of(CreateFlag.CREATE), BUFFER_BYTES,
            system.getDefaultReplication(file), system.getDefaultBlockSize(file), null);
    }

    @Override
    public void delete(List<String> names) {
        for (String name : names) {
            try {
                system.delete(new Path(path, name), false);
            } catch (IOException | FSError failure) {
                return;
            }
        }
    }

    private Path temporary(String name) {
        return new Path(path, name + ".tmp");
    }

    /** A file under a temporary name, which it loses when it is complete. */
    private final class Staged implements PartFile {

        private final OutputStream stream;
        private final String name;

        Staged(OutputStream stream, String name) {
            this.stream = stream;
            this.name = name;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            stream.write(bytes, offset, length);
        }

        @Override
        public void complete() throws IOException {
            stream.close();
            if (!system.rename(temporary(name), new Path(path, name))) {
                throw new IOException("It cannot be renamed.");
            }
        }

        @Override
        public void abandon() throws IOException {
            try (OutputStream open = stream) {
                system.delete(temporary(name), false);
            }
        }
    }
}
