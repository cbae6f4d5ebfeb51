package sluice.files;

import java.io.File;
import java.io.IOException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.iceberg.hadoop.HadoopInputFile;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.SeekableInputStream;

/** A file that Hadoop would read from the local file system, read without Hadoop. */
final class LocalFile implements InputFile {

    /** Where Hive's classes are, Hadoop uses this one. It differs in how files are renamed. */
    private static final String OF_HIVE = "org.apache.hadoop.hive.ql.io.ProxyLocalFileSystem";

    private final HadoopInputFile hadoop;
    private final File file;
    private final boolean isKnown;

    private LocalFile(HadoopInputFile hadoop, File file, boolean isKnown) {
        this.hadoop = hadoop;
        this.file = file;
        this.isKnown = isKnown;
    }

    /**
     * Returns the file as it is read best: without Hadoop, if it is in the plain local file system.
     *
     * @param isKnown whether the file is opened only when it is read: it was there before.
     */
    static InputFile of(InputFile file, boolean isKnown) {
        if (!(file instanceof HadoopInputFile hadoop) || !isPlain(hadoop.getFileSystem())) {
            return file;
        }
        File local = new File(hadoop.getPath().toUri().getPath());
        return local.isAbsolute() ? new LocalFile(hadoop, local, isKnown) : file;
    }

    /** Another class than these may find or read files in another way. */
    private static boolean isPlain(FileSystem system) {
        return system instanceof LocalFileSystem local
            && (local.getClass() == LocalFileSystem.class || local.getClass().getName().equals(OF_HIVE))
            && local.getRaw().getClass() == RawLocalFileSystem.class;
    }

    @Override
    public long getLength() {
        return hadoop.getLength();
    }

    @Override
    public SeekableInputStream newStream() {
        LocalStream stream = new LocalStream(file);
        if (isKnown) {
            return stream;
        }
        try {
            stream.open();
            return stream;
        } catch (IOException failure) {
            // Hadoop says what is wrong, with the exceptions that Iceberg expects.
            return hadoop.newStream();
        }
    }

    @Override
    public String location() {
        return hadoop.location();
    }

    @Override
    public boolean exists() {
        return hadoop.exists();
    }
}
