package sluice.tables;

import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.encryption.EncryptionManager;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.io.LocationProvider;

/** The operations of another table; reading and committing its metadata may be replaced. */
public abstract class ForwardingOperations implements TableOperations {
    protected final TableOperations operations;

    protected ForwardingOperations(TableOperations operations) {
        this.operations = operations;
    }

    @Override
    public TableMetadata current() {
        return operations.current();
    }

    @Override
    public TableMetadata refresh() {
        return operations.refresh();
    }

    @Override
    public FileIO io() {
        return operations.io();
    }

    @Override
    public EncryptionManager encryption() {
        return operations.encryption();
    }

    @Override
    public String metadataFileLocation(String fileName) {
        return operations.metadataFileLocation(fileName);
    }

    @Override
    public LocationProvider locationProvider() {
        return operations.locationProvider();
    }

    @Override
    public TableOperations temp(TableMetadata uncommitted) {
        return operations.temp(uncommitted);
    }

    @Override
    public long newSnapshotId() {
        return operations.newSnapshotId();
    }

    @Override
    public boolean requireStrictCleanup() {
        return operations.requireStrictCleanup();
    }
}
