package sluice.scans;

import static sluice.collections.Lists.map;

import java.util.List;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.ScanFileListing;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.PartitioningAwareFileIndex;
import org.apache.spark.sql.execution.metric.SQLMetric;

/** Describes how much scans of tables in Spark's own catalog read. */
final class FileScanRows {

    private final SparkSession session;
    private final FileListings listings;
    private final long keptMs;

    /** Totals are from listings that are at most `keptMs` old. */
    FileScanRows(SparkSession session, FileListings listings, long keptMs) {
        this.session = session;
        this.listings = listings;
        this.keptMs = keptMs;
    }

    /**
     * Returns name, [partitions, files, bytes, rows] in all, [partitions, files, bytes] selected, rows read, time,
     * whether it has run, whether Spark pruned it while the query ran, columns. `node` stands for `exec`, or is `exec`.
     */
    List<Object> of(FileSourceScanExec exec, SparkPlan node, boolean hasRun) throws Exception {
        TableIdentifier identifier = exec.tableIdentifier().get();
        long[] selected = selectedOf(exec, node);
        long[] total = totalOf(exec, identifier);
        for (int i = 0; i < selected.length; i++) {
            total[i] = Math.max(total[i], selected[i]);
        }
        SQLMetric read = CometNodes.rowsOf(node);
        long rows = read == null ? 0 : read.value();
        total[3] = Math.max(total[3], rows);
        return List.of(
            SessionTables.CATALOG + "." + identifier.database().get() + "." + identifier.table(),
            total,
            selected,
            rows,
            metric(node, "metadataTime"),
            hasRun,
            PlannedScans.isPrunedAtRuntime(exec.partitionFilters()),
            PlannedScans.columnsOf(exec.schema()));
    }

    /** Returns what remained after Spark's own runtime pruning; for a scan that did not run, what the plan selects. */
    private static long[] selectedOf(FileSourceScanExec exec, SparkPlan node) {
        long files = metric(node, "numFiles");
        boolean isPartitioned = exec.relation().partitionSchema().length() > 0;
        if (files > 0) {
            long partitions = isPartitioned ? metric(node, "numPartitions") : 1;
            return new long[] {partitions, files, metric(node, "filesSize")};
        }
        ScanFileListing planned = exec.selectedPartitions();
        files = planned.totalNumberOfFiles();
        long partitions = isPartitioned ? planned.partitionCount() : Math.min(1, files);
        return new long[] {partitions, files, planned.totalFileSize()};
    }

    private long[] totalOf(FileSourceScanExec exec, TableIdentifier identifier) throws Exception {
        CatalogTable table = session.sessionState().catalog().getTableMetadata(identifier);
        FileListing found;
        if (exec.relation().location() instanceof PartitioningAwareFileIndex index
                && !table.tracksPartitionsInCatalog()) {
            found = FileListings.of(index, 0);
        } else {
            found = listings.of(session, table, keptMs, new PartitionValues(0));
        }
        return found == null
            ? new long[4]
            : new long[] {found.partitions(), found.files(), found.bytes(), SessionTables.rowsOf(table)};
    }

    private static long metric(SparkPlan node, String name) {
        SQLMetric found = map(node.metrics()).get(name);
        return found == null ? 0 : found.value();
    }
}
