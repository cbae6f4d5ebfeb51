package sluice.files;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.apache.iceberg.hadoop.HadoopConfigurable;
import org.apache.iceberg.io.BulkDeletionFailureException;
import org.apache.iceberg.io.DelegateFileIO;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.FileInfo;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.io.StorageCredential;
import org.apache.iceberg.io.SupportsBulkOperations;
import org.apache.iceberg.io.SupportsPrefixOperations;
import org.apache.iceberg.io.SupportsRecoveryOperations;
import org.apache.iceberg.io.SupportsStorageCredentials;
import org.apache.iceberg.relocated.com.google.common.collect.Iterables;
import org.apache.iceberg.util.SerializableMap;
import org.apache.iceberg.util.SerializableSupplier;

/**
 * The files of a catalog. Small immutable ones, and the footers of others, are cached in the memory of the JVM. All
 * else is done by the catalog's own `FileIO`, with its properties and credentials.
 *
 * <p>An encrypted table encrypts and decrypts above this class, so the cache has what is in the store.
 */
public final class CachingFileIO
        implements HadoopConfigurable, DelegateFileIO, SupportsStorageCredentials, SupportsRecoveryOperations {

    /** The class of the catalog's own `FileIO`. */
    public static final String OWN = "sluice.file-cache.io-impl";
    public static final String CATALOG = "sluice.file-cache.catalog";
    public static final String MAX_BYTES = "sluice.file-cache.max-bytes";
    public static final String MAX_METADATA_FILE_BYTES = "sluice.file-cache.max-metadata-file-bytes";
    public static final String MAX_DATA_FILE_BYTES = "sluice.file-cache.max-data-file-bytes";

    private static final long serialVersionUID = 1;

    private FileIO own;
    private SerializableMap<String, String> properties;
    private String catalog;
    private long maxBytes;
    private long maxMetadataFileBytes;
    private long maxDataFileBytes;
    private transient Configuration configuration;
    private transient List<StorageCredential> credentials;

    /** Iceberg sets the configuration and the credentials, then calls `initialize`. */
    @Override
    public void initialize(Map<String, String> given) {
        properties = SerializableMap.copyOf(given);
        catalog = given.getOrDefault(CATALOG, "");
        maxBytes = Long.parseLong(given.getOrDefault(MAX_BYTES, "0"));
        maxMetadataFileBytes = Long.parseLong(given.getOrDefault(MAX_METADATA_FILE_BYTES, "0"));
        maxDataFileBytes = Long.parseLong(given.getOrDefault(MAX_DATA_FILE_BYTES, "0"));
        own = CatalogUtil.loadFileIO(
            given.get(OWN), given, configuration, credentials == null ? List.of() : credentials);
        shrinkConfiguration();
    }

    /** A table's `FileIO` is sent to executors with each scan, and Hadoop's configuration with it. */
    private void shrinkConfiguration() {
        if (configuration != null && own instanceof HadoopConfigurable configurable) {
            configurable.serializeConfWith(SmallConfiguration::of);
        }
    }

    @Override
    public Map<String, String> properties() {
        return properties.immutableMap();
    }

    @Override
    public InputFile newInputFile(String location) {
        return inputFile(location, -1);
    }

    @Override
    public InputFile newInputFile(String location, long length) {
        return inputFile(location, length);
    }

    private InputFile inputFile(String location, long length) {
        FileKind kind = FileKind.of(location);
        if (kind == FileKind.OTHER) {
            return ownInputFile(location, length);
        }
        return new CachedInputFile(
            cache(),
            FileKey.of(catalog, location),
            location,
            kind == FileKind.PARQUET,
            kind == FileKind.METADATA ? maxMetadataFileBytes : maxDataFileBytes,
            length,
            () -> ownInputFile(location, length));
    }

    private InputFile ownInputFile(String location, long length) {
        return length < 0 ? own.newInputFile(location) : own.newInputFile(location, length);
    }

    @Override
    public OutputFile newOutputFile(String location) {
        cache().remove(FileKey.of(catalog, location));
        return own.newOutputFile(location);
    }

    @Override
    public void deleteFile(String location) {
        FileKey key = FileKey.of(catalog, location);
        cache().remove(key);
        try {
            own.deleteFile(location);
        } finally {
            // Another thread may have read it in between.
            cache().remove(key);
        }
    }

    @Override
    public void deleteFiles(Iterable<String> locations) {
        FileCache cache = cache();
        Iterable<String> forgotten = Iterables.transform(locations, location -> {
            cache.remove(FileKey.of(catalog, location));
            return location;
        });
        if (own instanceof SupportsBulkOperations bulk) {
            bulk.deleteFiles(forgotten);
        } else {
            deleteEach(forgotten);
        }
    }

    private void deleteEach(Iterable<String> locations) {
        int failures = 0;
        for (String location : locations) {
            try {
                own.deleteFile(location);
            } catch (RuntimeException failure) {
                failures++;
            }
        }
        if (failures > 0) {
            throw new BulkDeletionFailureException(failures);
        }
    }

    @Override
    public Iterable<FileInfo> listPrefix(String prefix) {
        return withPrefixes().listPrefix(prefix);
    }

    @Override
    public void deletePrefix(String prefix) {
        SupportsPrefixOperations prefixes = withPrefixes();
        cache().removeBelow(catalog, prefix);
        try {
            prefixes.deletePrefix(prefix);
        } finally {
            cache().removeBelow(catalog, prefix);
        }
    }

    /** Whether the catalog's own `FileIO` can list and delete by prefix. */
    public boolean supportsPrefixes() {
        return own instanceof SupportsPrefixOperations;
    }

    private SupportsPrefixOperations withPrefixes() {
        if (own instanceof SupportsPrefixOperations prefixes) {
            return prefixes;
        }
        throw new UnsupportedOperationException(own.getClass().getName() + " does not support prefixes");
    }

    @Override
    public boolean recoverFile(String location) {
        return own instanceof SupportsRecoveryOperations recovery && recovery.recoverFile(location);
    }

    @Override
    public void setCredentials(List<StorageCredential> given) {
        credentials = List.copyOf(given);
        if (own instanceof SupportsStorageCredentials supporting) {
            supporting.setCredentials(given);
        }
    }

    @Override
    public List<StorageCredential> credentials() {
        return own instanceof SupportsStorageCredentials supporting ? supporting.credentials() : List.of();
    }

    @Override
    public void setConf(Configuration given) {
        configuration = given;
        if (own instanceof HadoopConfigurable configurable) {
            configurable.setConf(given);
            shrinkConfiguration();
        }
    }

    @Override
    public Configuration getConf() {
        return own instanceof HadoopConfigurable configurable ? configurable.getConf() : configuration;
    }

    /** Whatever is asked for, the configuration travels as few bytes. */
    @Override
    public void serializeConfWith(Function<Configuration, SerializableSupplier<Configuration>> ignored) {
        shrinkConfiguration();
    }

    @Override
    public void close() {
        if (own != null) {
            own.close();
        }
    }

    private FileCache cache() {
        return FileCache.ofThisJvm(maxBytes);
    }
}
