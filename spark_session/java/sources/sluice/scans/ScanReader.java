package sluice.scans;

import static sluice.collections.Lists.map;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestReader;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.spark.Spark3Util;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.util.AccumulatorV2;

/**
 * Reads how much each Iceberg scan of an executed plan read. PlannedScans finds the scans.
 *
 * It runs in the driver's JVM because the answer is spread over thousands of scan tasks: one call from Python instead
 * of thousands. Selected files are those of the tasks that ran, so Spark's own runtime pruning counts too, which
 * Iceberg's planning metrics miss. Totals are counted from the snapshot's manifests once and cached, because a
 * snapshot never changes.
 */
public final class ScanReader {
    private static final int SNAPSHOTS_KEPT = 512;
    private static final int MANIFESTS_KEPT = 4096;

    private final Map totalsOfSnapshot = bounded(SNAPSHOTS_KEPT);
    private final Map totalsOfName = bounded(SNAPSHOTS_KEPT);
    private final Map countsOfManifest = bounded(MANIFESTS_KEPT);

    /**
     * Returns JSON, one row per scan, those that ran first; the columns are those of
     * spark_session/results/scan_metrics.py.
     */
    public String read(Object queryExecution) throws Exception {
        List rows = new ArrayList();
        for (Iterator each = PlannedScans.of((QueryExecution) queryExecution).iterator(); each.hasNext();) {
            Object[] scan = (Object[]) each.next();
            Object[] row = scan[0] instanceof BatchScanExec ? rowOf((BatchScanExec) scan[0], scan[1]) : null;
            if (row != null) {
                rows.add(row);
            }
        }
        return new ObjectMapper().writeValueAsString(rows);
    }

    /**
     * Returns JSON: for each table of `asked` ([[name, snapshot], …], names quoted as in SQL) its totals at that
     * snapshot; no scan of it is needed.
     */
    public String totals(Object queryExecution, String asked) throws Exception {
        SparkSession session = ((QueryExecution) queryExecution).sparkSession();
        List found = new ArrayList();
        for (Iterator each = ((List) new ObjectMapper().readValue(asked, List.class)).iterator(); each.hasNext();) {
            List table = (List) each.next();
            found.add(totalsOf(session, (String) table.get(0), ((Number) table.get(1)).longValue()));
        }
        return new ObjectMapper().writeValueAsString(found);
    }

    /** The catalog is asked outside of the lock, which every query takes. */
    private long[] totalsOf(SparkSession session, String name, long snapshotId) throws Exception {
        String key = name + ":" + snapshotId;
        synchronized (totalsOfName) {
            if (totalsOfName.containsKey(key)) {
                return (long[]) totalsOfName.get(key);
            }
        }
        Table table = Spark3Util.loadIcebergTable(session, name);
        if (table.snapshot(snapshotId) == null) {
            // The table was opened before this snapshot was committed.
            table.refresh();
        }
        long[] totals = totalsOf(table, table.snapshot(snapshotId));
        synchronized (totalsOfName) {
            totalsOfName.put(key, totals);
        }
        return totals;
    }

    private Object[] rowOf(BatchScanExec exec, Object hasRun) throws Exception {
        Object scan = exec.scan();
        if (!isIcebergBatchScan(scan.getClass())) {
            return null;
        }
        Table table = (Table) call(scan, "table");
        if (table instanceof BaseMetadataTable) {
            return null;
        }
        Snapshot snapshot = (Snapshot) field(scan, "snapshot");
        long[] selected = selectedOf(taskGroupsOf(exec));
        long[] total = snapshot == null ? new long[5] : totalsOf(table, snapshot);
        return new Object[] {
            table.name(),
            snapshot == null ? null : Long.valueOf(snapshot.snapshotId()),
            total, selected,
            Long.valueOf(metric(exec, "scannedDataManifests")),
            Long.valueOf(metric(exec, "numOutputRows")),
            Long.valueOf(metric(exec, "totalPlanningDuration")),
            hasRun, Boolean.valueOf(PlannedScans.isPrunedAtRuntime(exec.runtimeFilters())),
            PlannedScans.columnsOf(exec.scan().readSchema()),
        };
    }

    /**
     * Returns the tasks that the node has run, or else those that its scan has now.
     *
     * Copies of one table reference share a scan, and Spark's runtime filter for one of them changes the tasks of the
     * scan. A node that was planned before keeps and runs all of its own.
     */
    private static List taskGroupsOf(BatchScanExec exec) throws Exception {
        Object partitions = field(exec, "filteredPartitions");
        if (partitions == null) {
            return (List) call(exec.scan(), "taskGroups");
        }
        List found = new ArrayList();
        scala.collection.Iterator grouped = ((scala.collection.Iterable) partitions).iterator();
        while (grouped.hasNext()) {
            scala.collection.Iterator group = ((scala.collection.Iterable) grouped.next()).iterator();
            while (group.hasNext()) {
                found.add(call(group.next(), "taskGroup"));
            }
        }
        return found;
    }

    /** Other scans, as of a table's changes, have no files of one snapshot to count. */
    private static boolean isIcebergBatchScan(Class type) {
        return type != null
            && (type.getName().equals("org.apache.iceberg.spark.source.SparkBatchQueryScan")
                || isIcebergBatchScan(type.getSuperclass()));
    }

    /** Returns partitions, data files and bytes of the tasks. */
    private static long[] selectedOf(List taskGroups) {
        Set partitions = new HashSet();
        Set files = new HashSet();
        long bytes = 0;
        for (Iterator groups = taskGroups.iterator(); groups.hasNext();) {
            for (Iterator tasks = ((ScanTaskGroup) groups.next()).tasks().iterator(); tasks.hasNext();) {
                ScanTask task = (ScanTask) tasks.next();
                if (task.isFileScanTask()) {
                    FileScanTask fileTask = task.asFileScanTask();
                    DataFile file = (DataFile) fileTask.file();
                    if (files.add(file.location())) {
                        partitions.add(partitionKey(fileTask.spec(), file));
                        bytes += file.fileSizeInBytes();
                    }
                }
            }
        }
        return new long[] {partitions.size(), files.size(), bytes};
    }

    /** Returns partitions, data files, bytes, rows and manifests of the whole snapshot. */
    private synchronized long[] totalsOf(Table table, Snapshot snapshot) throws Exception {
        String key = table.uuid() + ":" + snapshot.snapshotId();
        long[] known = (long[]) totalsOfSnapshot.get(key);
        if (known == null) {
            known = countTotals(table, snapshot);
            totalsOfSnapshot.put(key, known);
        }
        return known;
    }

    /** A commit costs the manifests that it wrote: the others are the last snapshot's, and never change. */
    private long[] countTotals(Table table, Snapshot snapshot) throws Exception {
        Set partitions = new HashSet();
        long[] sums = new long[3];
        List manifests = snapshot.dataManifests(table.io());
        for (Iterator each = manifests.iterator(); each.hasNext();) {
            ManifestFile manifest = (ManifestFile) each.next();
            Object[] counts = (Object[]) countsOfManifest.get(manifest.path());
            if (counts == null) {
                counts = countManifest(table, manifest);
                countsOfManifest.put(manifest.path(), counts);
            }
            partitions.addAll((Set) counts[0]);
            for (int i = 0; i < sums.length; i++) {
                sums[i] += ((long[]) counts[1])[i];
            }
        }
        return new long[] {partitions.size(), sums[0], sums[1], sums[2], manifests.size()};
    }

    private static Object[] countManifest(Table table, ManifestFile manifest) throws Exception {
        Set partitions = new HashSet();
        long[] sums = new long[3];
        PartitionSpec spec = (PartitionSpec) table.specs().get(Integer.valueOf(manifest.partitionSpecId()));
        ManifestReader reader = ManifestFiles.read(manifest, table.io(), table.specs());
        try {
            for (Iterator entries = reader.iterator(); entries.hasNext();) {
                DataFile file = (DataFile) entries.next();
                partitions.add(partitionKey(spec, file));
                sums[0] += 1;
                sums[1] += file.fileSizeInBytes();
                sums[2] += file.recordCount();
            }
        } finally {
            reader.close();
        }
        return new Object[] {partitions, sums};
    }

    private static Map bounded(final int size) {
        return new LinkedHashMap(16, 0.75f, true) {
            protected boolean removeEldestEntry(Map.Entry eldest) {
                return size() > size;
            }
        };
    }

    private static String partitionKey(PartitionSpec spec, DataFile file) {
        return spec.specId() + ":" + spec.partitionToPath(file.partition());
    }

    private static long metric(BatchScanExec exec, String name) {
        AccumulatorV2 found = (AccumulatorV2) map(exec.metrics()).get(name);
        long value = found == null ? 0 : ((Number) found.value()).longValue();
        return value == 0 ? plannedMetric(exec, name) : value;
    }

    /** Spark records the scan's own report when it runs; a scan that was only planned is asked here. */
    private static long plannedMetric(BatchScanExec exec, String name) {
        CustomTaskMetric[] reported = exec.scan().reportDriverMetrics();
        for (int i = 0; i < reported.length; i++) {
            if (reported[i].name().equals(name)) {
                return reported[i].value();
            }
        }
        return 0;
    }

    /** Iceberg's scan classes are package-private, so they are reached by reflection. */
    private static Object call(Object target, String name) throws Exception {
        for (Class type = target.getClass(); type != null; type = type.getSuperclass()) {
            Method[] methods = type.getDeclaredMethods();
            for (int i = 0; i < methods.length; i++) {
                if (methods[i].getName().equals(name) && methods[i].getParameterTypes().length == 0) {
                    methods[i].setAccessible(true);
                    return methods[i].invoke(target, new Object[0]);
                }
            }
        }
        throw new NoSuchMethodException(name);
    }

    private static Object field(Object target, String name) throws Exception {
        for (Class type = target.getClass(); type != null; type = type.getSuperclass()) {
            Field[] fields = type.getDeclaredFields();
            for (int i = 0; i < fields.length; i++) {
                if (fields[i].getName().equals(name)) {
                    fields[i].setAccessible(true);
                    return fields[i].get(target);
                }
            }
        }
        return null;
    }
}
