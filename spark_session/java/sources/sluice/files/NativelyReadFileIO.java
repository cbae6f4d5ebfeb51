package sluice.files;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.io.FileInfo;
import org.apache.iceberg.io.InputFile;
import org.apache.iceberg.io.OutputFile;
import org.apache.iceberg.io.ResolvingFileIO;
import org.apache.iceberg.io.StorageCredential;
import org.apache.iceberg.io.SupportsRecoveryOperations;
import org.apache.iceberg.util.SerializableSupplier;

/**
 * A `CachingFileIO` for tables whose data files Comet may read natively, without a `FileIO`.
 *
 * <p>Comet reads a table's files by its own client where the class of the table's `FileIO` is one of Iceberg's, or is
 * derived from one. Use this class only over those. All that is inherited is replaced.
 */
public final class NativelyReadFileIO extends ResolvingFileIO implements SupportsRecoveryOperations {

    private static final long serialVersionUID = 1;

    private final CachingFileIO files = new CachingFileIO();

    @Override
    public void initialize(Map<String, String> properties) {
        files.initialize(properties);
    }

    @Override
    public Map<String, String> properties() {
        return files.properties();
    }

    @Override
    public InputFile newInputFile(String location) {
        return files.newInputFile(location);
    }

    @Override
    public InputFile newInputFile(String location, long length) {
        return files.newInputFile(location, length);
    }

    @Override
    public OutputFile newOutputFile(String location) {
        return files.newOutputFile(location);
    }

    @Override
    public void deleteFile(String location) {
        files.deleteFile(location);
    }

    @Override
    public void deleteFiles(Iterable<String> locations) {
        files.deleteFiles(locations);
    }

    @Override
    public Iterable<FileInfo> listPrefix(String prefix) {
        return files.listPrefix(prefix);
    }

    @Override
    public void deletePrefix(String prefix) {
        files.deletePrefix(prefix);
    }

    @Override
    public boolean recoverFile(String location) {
        return files.recoverFile(location);
    }

    @Override
    public void setCredentials(List<StorageCredential> credentials) {
        files.setCredentials(credentials);
    }

    @Override
    public List<StorageCredential> credentials() {
        return files.credentials();
    }

    @Override
    public void setConf(Configuration configuration) {
        files.setConf(configuration);
    }

    @Override
    public Configuration getConf() {
        return files.getConf();
    }

    @Override
    public void serializeConfWith(Function<Configuration, SerializableSupplier<Configuration>> supplier) {
        files.serializeConfWith(supplier);
    }

    @Override
    public void close() {
        files.close();
    }

    /** The inherited one closes what it has not opened. */
    @Override
    protected void finalize() {
        // Nothing is open but what `files` has, which closes itself.
    }
}
