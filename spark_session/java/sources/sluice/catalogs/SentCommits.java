package sluice.catalogs;

import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.exceptions.CommitStateUnknownException;
import org.apache.iceberg.jdbc.UncheckedSQLException;
import sluice.tables.ForwardingOperations;

/** Operations that say so if nobody knows whether a commit was applied. Iceberg then deletes no file of it. */
public final class SentCommits extends ForwardingOperations {

    SentCommits(TableOperations operations) {
        super(operations);
    }

    @Override
    public void commit(TableMetadata base, TableMetadata metadata) {
        try {
            operations.commit(base, metadata);
        } catch (UncheckedSQLException failure) {
            throw ChangeSent.isCauseOf(failure) ? new CommitStateUnknownException(failure) : failure;
        }
    }
}
