package sluice.scans;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.map;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.metric.SQLMetric;
import sluice.rowgroups.FilesLeftOut;
import sluice.rowgroups.ScanRowGroups;

/**
 * Reads how much each Iceberg scan of an executed plan read. PlannedScans finds the scans.
 *
 * <p>It runs in the driver's JVM because the answer is spread over thousands of scan tasks: one call from Python
 * instead of thousands. Selected files are those of the tasks that ran, so Spark's own runtime pruning counts too,
 * which Iceberg's planning metrics miss.
 */
public final class ScanReader {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String WHOLE = "org.apache.iceberg.spark.source.SparkBatchQueryScan";
    /** Of the files that a DELETE, UPDATE or MERGE writes again. */
    private static final String COPIED = "org.apache.iceberg.spark.source.SparkCopyOnWriteScan";
    private static final String ADDED = "org.apache.iceberg.spark.source.SparkIncrementalAppendScan";

    private final SnapshotTotals totals = new SnapshotTotals();

    /**
     * Returns JSON, one row per scan, those that ran first; the columns are those of
     * spark_session/results/scan_metrics.py.
     */
    public String read(QueryExecution execution) throws Exception {
        List<List<Object>> rows = new ArrayList<>();
        for (PlannedScan planned : PlannedScans.of(execution)) {
            if (planned.plan() instanceof BatchScanExec exec && isOfSnapshot(exec.scan())) {
                Table table = (Table) PackagePrivate.call(exec.scan(), "table");
                if (!(table instanceof BaseMetadataTable)) {
                    rows.add(rowOf(exec, planned.node(), table, planned.hasRun()));
                }
            }
        }
        return MAPPER.writeValueAsString(rows);
    }

    /**
     * Returns JSON: for each table of `asked` ([[name, snapshot], …], names quoted as in SQL) its totals at that
     * snapshot; no scan of it is needed.
     */
    public String totals(QueryExecution execution, String asked) throws Exception {
        SparkSession session = execution.sparkSession();
        List<long[]> found = new ArrayList<>();
        for (List<Object> table : MAPPER.readValue(asked, new TypeReference<List<List<Object>>>() {})) {
            long snapshotId = ((Number) table.get(1)).longValue();
            found.add(totals.of(session, (String) table.get(0), snapshotId).row());
        }
        return MAPPER.writeValueAsString(found);
    }

    private List<Object> rowOf(BatchScanExec exec, SparkPlan node, Table table, boolean hasRun) throws Exception {
        Snapshot snapshot = snapshotOf(exec.scan(), table);
        List<List<CometNodes.Split>> tasks = CometNodes.tasksOf(node);
        long[] selected = tasks == null ? selectedOf(exec) : CometNodes.selectedOf(tasks);
        SQLMetric rows = CometNodes.rowsOf(node);
        ScanTotals total = snapshot == null ? ScanTotals.NONE : totals.of(table, snapshot);
        ScanFilters filters = ScanFilters.of(exec.scan());
        return Arrays.asList(
            table.name(),
            snapshot == null ? null : snapshot.snapshotId(),
            total.row(),
            selected,
            metric(exec, "scannedDataManifests"),
            rows == null ? 0 : rows.value(),
            metric(exec, "totalPlanningDuration"),
            hasRun,
            PlannedScans.isPrunedAtRuntime(CometNodes.runtimeFiltersOf(exec, node)),
            PlannedScans.columnsOf(exec.scan().readSchema()),
            filters.texts(),
            filters.decimals(),
            filesLeftOutOf(exec.scan()));
    }

    /** Returns how many files the scan has left out only because of what readers had noted of their row groups. */
    private static long filesLeftOutOf(Scan scan) throws ReflectiveOperationException {
        return PackagePrivate.field(scan, "scan") instanceof FilesLeftOut planned ? planned.filesLeftOut() : 0;
    }

    /**
     * Returns the tasks that the node has run, or else those that its scan has now.
     *
     * <p>Copies of one table reference share a scan, and Spark's runtime filter for one of them changes the tasks of
     * the scan. A node that was planned before keeps and runs all of its own.
     */
    private static List<ScanTaskGroup<?>> taskGroupsOf(BatchScanExec exec) throws ReflectiveOperationException {
        List<ScanTaskGroup<?>> found = new ArrayList<>();
        Object partitions = PackagePrivate.field(exec, "filteredPartitions");
        if (partitions == null) {
            for (Object group : (List<?>) PackagePrivate.call(exec.scan(), "taskGroups")) {
                found.add((ScanTaskGroup<?>) group);
            }
            return found;
        }
        for (Object group : iterable((scala.collection.Iterable<?>) partitions)) {
            for (Object partition : iterable((scala.collection.Iterable<?>) group)) {
                found.add((ScanTaskGroup<?>) PackagePrivate.call(partition, "taskGroup"));
            }
        }
        return found;
    }

    /** Other scans, as of a table's changes, have no files of one snapshot to count. */
    private static boolean isOfSnapshot(Scan scan) {
        return isA(scan.getClass(), WHOLE) || isA(scan.getClass(), COPIED) || isA(scan.getClass(), ADDED);
    }

    /** Returns the snapshot that the scan reads; of a scan of added files, the one that has all of them. */
    private static Snapshot snapshotOf(Scan scan, Table table) throws ReflectiveOperationException {
        if (isA(scan.getClass(), WHOLE) || isA(scan.getClass(), COPIED)) {
            return (Snapshot) PackagePrivate.field(scan, "snapshot");
        }
        Long end = (Long) PackagePrivate.field(scan, "endSnapshotId");
        return end == null ? table.currentSnapshot() : table.snapshot(end);
    }

    private static boolean isA(Class<?> type, String name) {
        return type != null && (type.getName().equals(name) || isA(type.getSuperclass(), name));
    }

    private static long[] selectedOf(BatchScanExec exec) throws ReflectiveOperationException {
        List<ScanTaskGroup<?>> groups = taskGroupsOf(exec);
        Schema schema = (Schema) PackagePrivate.field(exec.scan(), "schema");
        return selectedOf(groups, ScanRowGroups.selectedOf(schema, groups));
    }

    /** Returns partitions, data files and bytes of the tasks, and then these row groups. */
    private static long[] selectedOf(List<ScanTaskGroup<?>> taskGroups, long rowGroups) {
        Set<String> partitions = new HashSet<>();
        Set<String> files = new HashSet<>();
        long bytes = 0;
        for (ScanTaskGroup<?> group : taskGroups) {
            for (ScanTask task : group.tasks()) {
                if (task.isFileScanTask()) {
                    FileScanTask fileTask = task.asFileScanTask();
                    DataFile file = fileTask.file();
                    if (files.add(file.location())) {
                        partitions.add(SnapshotTotals.partitionKey(fileTask.spec(), file));
                        bytes += file.fileSizeInBytes();
                    }
                }
            }
        }
        return new long[] {partitions.size(), files.size(), bytes, rowGroups};
    }

    private static long metric(BatchScanExec exec, String name) {
        SQLMetric found = map(exec.metrics()).get(name);
        long value = found == null ? 0 : found.value();
        return value == 0 ? plannedMetric(exec.scan(), name) : value;
    }

    /** Spark records the scan's own report when it runs; a scan that was only planned is asked here. */
    private static long plannedMetric(Scan scan, String name) {
        for (CustomTaskMetric reported : scan.reportDriverMetrics()) {
            if (reported.name().equals(name)) {
                return reported.value();
            }
        }
        return 0;
    }
}
