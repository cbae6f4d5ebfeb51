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

    public TableMetadata current() {
        return operations.current();
    }

    public TableMetadata refresh() {
        return operations.refresh();
    }

    public FileIO io() {
        return operations.io();
    }

    public EncryptionManager encryption() {
        return operations.encryption();
    }

    public String metadataFileLocation(String fileName) {
        return operations.metadataFileLocation(fileName);
    }

    public LocationProvider locationProvider() {
        return operations.locationProvider();
    }

    public TableOperations temp(TableMetadata uncommitted) {
        return operations.temp(uncommitted);
    }

    public long newSnapshotId() {
        return operations.newSnapshotId();
    }

    public boolean requireStrictCleanup() {
        return operations.requireStrictCleanup();
    }
}
