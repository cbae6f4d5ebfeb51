package sluice.scans;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.ScanTask;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A scan of a running query that may be left with fewer files until its stage is made.
 *
 * <p>It changes once, before the stage has partitions: a stage that is tried again reads the same files. Several threads
 * may use it.
 */
public final class LateScan {

    private static final Logger LOG = LoggerFactory.getLogger(LateScan.class);

    private final String table;
    private final long snapshot;
    /** The files that each filter keeps, by its id. */
    private final Map<String, Set<String>> kept = new HashMap<>();
    private final Set<String> used = new HashSet<>();
    private boolean hasBegun;
    private boolean isClosed;

    LateScan(String table, long snapshot) {
        this.table = table;
        this.snapshot = snapshot;
    }

    /**
     * Lets the scan read only the files that a planned scan of the same table and snapshot has selected by a filter.
     *
     * @return false if that is not certain, or if the stage of this scan was made before.
     */
    public boolean keep(String filter, QueryExecution planned) throws ReflectiveOperationException {
        List<BatchScanExec> found = new ArrayList<>();
        LateScans.collect(planned.executedPlan(), found);
        if (found.size() != 1 || !isSame(found.get(0).scan())) {
            return false;
        }
        Set<String> files = new HashSet<>();
        for (Object task : tasksOf(found.get(0).scan())) {
            files.add(((ScanTask) task).asFileScanTask().file().location());
        }
        return keep(filter, files);
    }

    synchronized boolean keep(String filter, Set<String> files) {
        if (isClosed) {
            return false;
        }
        kept.put(filter, files);
        return true;
    }

    /** Whether its stage reads only files that the filter keeps. */
    public synchronized boolean isUsed(String filter) {
        return used.contains(filter);
    }

    /** Whether it may still be left with fewer files. */
    public synchronized boolean isOpen() {
        return !isClosed;
    }

    /** Whether its stage was made. */
    public synchronized boolean hasBegun() {
        return hasBegun;
    }

    /** From now on, nothing changes which files it reads. */
    public synchronized void close() {
        isClosed = true;
        kept.clear();
    }

    /** Returns the node that its stage runs: with fewer files, if they are known by now. `node` stands for `exec`. */
    synchronized SparkPlan atStage(BatchScanExec exec, SparkPlan node) {
        boolean hasFilter = !isClosed && !kept.isEmpty();
        hasBegun = true;
        isClosed = true;
        if (!hasFilter) {
            return node;
        }
        try {
            if (!LateScans.isPlain(exec) || !isSame(exec.scan())) {
                return node;
            }
            SparkPlan left = LateScans.withTasks(exec, node, left(tasksOf(exec.scan())));
            used.addAll(kept.keySet());
            return left;
        } catch (ReflectiveOperationException | RuntimeException failure) {
            // Another version of Iceberg. The scan reads all of its files.
            LOG.warn("A scan of {} reads all of its files: {}", table, failure.getClass().getName());
            return node;
        } finally {
            kept.clear();
        }
    }

    boolean isSame(Scan scan) throws ReflectiveOperationException {
        return LateScans.isOf(scan, table) && LateScans.snapshotOf(scan) == snapshot;
    }

    private List<Object> left(List<?> tasks) {
        List<Object> left = new ArrayList<>();
        for (Object task : tasks) {
            String file = ((ScanTask) task).asFileScanTask().file().location();
            if (kept.values().stream().allMatch(files -> files.contains(file))) {
                left.add(task);
            }
        }
        if (left.isEmpty() && !tasks.isEmpty()) {
            // What is planned above may count on a partition.
            left.add(tasks.get(0));
        }
        return left;
    }

    private static List<?> tasksOf(Scan scan) throws ReflectiveOperationException {
        return (List<?>) PackagePrivate.call(scan, "tasks");
    }
}
