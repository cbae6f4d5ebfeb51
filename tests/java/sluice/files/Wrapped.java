package sluice.files;

import java.io.File;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.hadoop.HadoopFileIO;

/** A `CachingFileIO` as a catalog makes it, over one of a test. */
final class Wrapped {

    static final int LARGEST_METADATA = 64 * 1024;
    static final int LARGEST_DATA = 32 * 1024;
    /** All tests share the cache of the JVM, so all of them bound it alike. */
    static final int MOST_BYTES = 4 << 20;

    private Wrapped() {}

    static CachingFileIO over(Class<?> own) {
        return over(own, new Configuration());
    }

    static CachingFileIO over(Class<?> own, Configuration configuration) {
        CachingFileIO io = new CachingFileIO();
        io.setConf(configuration);
        io.initialize(properties(own.getName()));
        return io;
    }

    static CachingFileIO overHadoop() {
        return over(HadoopFileIO.class);
    }

    static Map<String, String> properties(String own) {
        return new HashMap<>(Map.of(
            CachingFileIO.OWN, own,
            CachingFileIO.CATALOG, "lake",
            CachingFileIO.MAX_BYTES, String.valueOf(MOST_BYTES),
            CachingFileIO.MAX_METADATA_FILE_BYTES, String.valueOf(LARGEST_METADATA),
            CachingFileIO.MAX_DATA_FILE_BYTES, String.valueOf(LARGEST_DATA),
            "s3.endpoint", "http://store"));
    }

    static String metadataName() {
        return "00001-" + UUID.randomUUID() + ".metadata.json";
    }

    static String dataName(String format) {
        return "00000-1-" + UUID.randomUUID() + "-00001." + format;
    }

    static String in(File folder, String name) {
        return new File(folder, name).toURI().toString();
    }

    static boolean isCached(String location) {
        return FileCache.ofThisJvm(MOST_BYTES).sizeOf(FileKey.of("lake", location)) >= 0;
    }
}
