package sluice.stored;

import java.io.IOException;
import java.net.URI;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.LocalFileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.spark.deploy.SparkHadoopUtil;

/** The folder of one result, as this process reaches it. */
record Folder(FileSystem system, Path path) {

    static Folder at(String address) throws IOException {
        Path path = new Path(URI.create(address));
        FileSystem system = path.getFileSystem(SparkHadoopUtil.get().conf());
        // A checksum file beside each file would only be in the way: nobody reads it.
        return new Folder(system instanceof LocalFileSystem local ? local.getRaw() : system, path);
    }
}
