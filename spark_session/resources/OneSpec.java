import java.util.Iterator;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.exceptions.ValidationException;

/**
 * A table's operations for a rewriting, which is not committed where others have written for another partition spec.
 *
 * Rewritten rows are as old as they were, for the equality deletes that came meanwhile. Those are of the specs
 * that the branch had rows under, and of the table's at that time. Under a spec that the table has had only while
 * this ran, they would reach no row, and rows that they had deleted would be back.
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
        this.begunAt = head == null ? 0L : head.sequenceNumber();
    }

    private Snapshot head(TableMetadata metadata) {
        SnapshotRef ref = metadata.ref(branch);
        return ref == null ? null : metadata.snapshot(ref.snapshotId());
    }

    public void commit(TableMetadata before, TableMetadata after) {
        Snapshot head = head(before);
        // What follows takes deletes out that apply to nothing.
        if (!isRewritten && head != null && head.sequenceNumber() > begunAt) {
            check(head);
        }
        // What others commit from here on, is a conflict to the catalog.
        operations.commit(before, after);
        isRewritten = true;
    }

    private void check(Snapshot head) {
        Iterator manifests = head.dataManifests(io()).iterator();
        while (manifests.hasNext()) {
            ManifestFile each = (ManifestFile) manifests.next();
            boolean hasRows = each.hasAddedFiles() || each.hasExistingFiles();
            if (hasRows && each.partitionSpecId() != specId && each.sequenceNumber() > begunAt) {
                throw new ValidationException(
                    "Rows were written meanwhile under another partition spec than " + specId,
                    new Object[0]);
            }
        }
    }
}
