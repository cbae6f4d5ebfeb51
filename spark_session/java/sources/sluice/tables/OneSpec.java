package sluice.tables;

import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.exceptions.ValidationException;

/**
 * The operations of a table that is being rewritten. They refuse to commit if others have written under another
 * partition spec.
 *
 * <p>Rewritten rows keep their age for equality deletes that were committed in the meantime. Such deletes have the
 * specs of the branch's rows, and the table's spec of that time. Under a spec that the table had only during the
 * rewriting, they would reach no row, and rows that they had deleted would be back.
 */
public final class OneSpec extends ForwardingOperations {

    private final String branch;
    private final int specId;
    private final long begunAt;
    private boolean isRewritten = false;

    public OneSpec(TableOperations operations, String branch) {
        super(operations);
        this.branch = branch;
        this.specId = operations.current().defaultSpecId();
        Snapshot head = head(operations.current());
        this.begunAt = head == null ? 0 : head.sequenceNumber();
    }

    private Snapshot head(TableMetadata metadata) {
        SnapshotRef ref = metadata.ref(branch);
        return ref == null ? null : metadata.snapshot(ref.snapshotId());
    }

    @Override
    public void commit(TableMetadata before, TableMetadata after) {
        Snapshot head = head(before);
        // Later commits remove deletes that apply to nothing.
        if (!isRewritten && head != null && head.sequenceNumber() > begunAt) {
            check(head);
        }
        // To the catalog, a commit of others from here on is a conflict.
        operations.commit(before, after);
        isRewritten = true;
    }

    private void check(Snapshot head) {
        for (ManifestFile each : head.dataManifests(io())) {
            boolean hasRows = each.hasAddedFiles() || each.hasExistingFiles();
            if (hasRows && each.partitionSpecId() != specId && each.sequenceNumber() > begunAt) {
                throw new ValidationException(
                    "Rows were written meanwhile under another partition spec than %s", specId);
            }
        }
    }
}
