package sluice.stored;

import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.util.EnumSet;
import java.util.List;
import org.apache.hadoop.fs.CreateFlag;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.spark.deploy.SparkHadoopUtil;

/** The folder of one result, as this process reaches it. */
record Folder(FileSystem system, Path path) {

    private static final int BUFFER_BYTES = 1 << 16;

    static Folder at(String address) throws IOException {
        Path path = new Path(URI.create(address));
        FileSystem system = path.getFileSystem(SparkHadoopUtil.get().conf());
        // A checksum file beside each file would only be in the way: nobody reads it.
        return new Folder(system instanceof LocalFileSystem local ? local.getRaw() : system, path);
    }

    /**
     * Creates a file, and never its folder: a query that has ended has removed that.
     *
     * <p>On a local disk, the process's own mask decides on permissions: to set them, Hadoop would start a process. Its
     * other methods of this name create the folder there, whatever they are called.
     */
    OutputStream created(Path file) throws IOException {
        FsPermission permission = system instanceof RawLocalFileSystem ? null : FsPermission.getFileDefault();
        return system.createNonRecursive(file, permission, EnumSet.of(CreateFlag.CREATE), BUFFER_BYTES,
            system.getDefaultReplication(file), system.getDefaultBlockSize(file), null);
    }

    /** Deletes files; those that cannot be deleted now go with the folder. */
    void delete(List<String> names) {
        for (String name : names) {
            try {
                system.delete(new Path(path, name), false);
            } catch (IOException | FSError failure) {
                return;
            }
        }
    }
}
