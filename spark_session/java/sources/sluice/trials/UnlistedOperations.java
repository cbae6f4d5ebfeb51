package sluice.trials;

import java.util.Map;
import java.util.Objects;
import org.apache.iceberg.LocationProviders;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.exceptions.CommitFailedException;
import org.apache.iceberg.io.LocationProvider;
import org.apache.iceberg.io.OutputFile;
import sluice.tables.ForwardingOperations;

/**
 * The operations of a table that no catalog has. Its metadata begins as that of another table at a snapshot, so it
 * reads the files of that table. All that it writes is in a folder of its own.
 */
final class UnlistedOperations extends ForwardingOperations {

    private final String folder;
    private TableMetadata metadata;
    private int version = 0;

    /** The `begun` metadata has the folder as its location. Nothing is written before the first commit. */
    UnlistedOperations(TableOperations source, TableMetadata begun) {
        super(source);
        this.folder = begun.location();
        this.metadata = begun;
    }

    @Override
    public synchronized TableMetadata current() {
        return metadata;
    }

    @Override
    public synchronized TableMetadata refresh() {
        return metadata;
    }

    @Override
    public synchronized void commit(TableMetadata before, TableMetadata after) {
        if (!Objects.equals(before.metadataFileLocation(), metadata.metadataFileLocation())) {
            throw new CommitFailedException("The metadata has changed");
        }
        if (before == after) {
            return;
        }
        if (!folder.equals(after.location())) {
            throw new IllegalArgumentException("The copy stays in its folder");
        }
        OutputFile file = io().newOutputFile(metadataFileLocation(++version + ".metadata.json"));
        TableMetadataParser.write(after, file);
        metadata = TableMetadataParser.read(file.toInputFile());
    }

    @Override
    public String metadataFileLocation(String fileName) {
        return folder + "/metadata/" + fileName;
    }

    @Override
    public LocationProvider locationProvider() {
        // Properties of the other table would lead to its own folders.
        return LocationProviders.locationsFor(folder, Map.of());
    }

    @Override
    public TableOperations temp(TableMetadata uncommitted) {
        throw new UnsupportedOperationException("The copy has no transactions");
    }
}
