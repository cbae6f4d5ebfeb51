import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.HasTableOperations;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.SnapshotRef;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableOperations;
import org.apache.iceberg.actions.RewriteDataFiles;
import org.apache.iceberg.exceptions.ValidationException;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.iceberg.spark.actions.RewriteDataFilesSparkAction;
import org.apache.iceberg.spark.actions.SparkActions;
import org.apache.spark.sql.SparkSession;

/**
 * Iceberg's rewriting of data files, which is not committed where others have written for another partition spec.
 *
 * Rewritten rows are as old as they were, for the equality deletes that came meanwhile. Those are of the specs
 * that the branch had rows under, and of the table's at that time. Under a spec that the table has had only while
 * this ran, they would reach no row, and rows that they had deleted would be back.
 *
 * Compiled at start by Janino, the compiler that Spark ships for its generated code; hence no lambdas.
 */
public final class Compaction {

    /** What was done, by the names that Iceberg's procedure gives the counts. */
    public Map rewrite(Object session, String name, String branch, Map options) throws Exception {
        SparkSession spark = (SparkSession) session;
        Table table = Spark3Util.loadIcebergTable(spark, name);
        TableOperations operations = new OneSpec(((HasTableOperations) table).operations(), branch);
        RewriteDataFilesSparkAction action =
            SparkActions.get(spark).rewriteDataFiles(new BaseTable(operations, name));
        action.toBranch(branch);
        action.options(options);
        RewriteDataFiles.Result result = (RewriteDataFiles.Result) action.execute();
        Map counts = new HashMap();
        counts.put("rewritten_data_files_count", Long.valueOf(result.rewrittenDataFilesCount()));
        counts.put("added_data_files_count", Long.valueOf(result.addedDataFilesCount()));
        counts.put("rewritten_bytes_count", Long.valueOf(result.rewrittenBytesCount()));
        counts.put("removed_delete_files_count", Long.valueOf(result.removedDeleteFilesCount()));
        return counts;
    }

    /** Takes no rewritten rows once the branch has some that were written meanwhile under another spec. */
    private static final class OneSpec extends ForwardingOperations {
        private final String branch;
        private final int specId;
        private final long begunAt;
        private boolean isRewritten = false;

        OneSpec(TableOperations operations, String branch) {
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
}
