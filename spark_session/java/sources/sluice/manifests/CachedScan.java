package sluice.manifests;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.function.Supplier;
import org.apache.iceberg.BatchScan;
import org.apache.iceberg.EnvironmentContext;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.Table;
import org.apache.iceberg.events.Listeners;
import org.apache.iceberg.events.ScanEvent;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.ExpressionUtil;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;
import org.apache.iceberg.metrics.DefaultMetricsContext;
import org.apache.iceberg.metrics.ImmutableScanReport;
import org.apache.iceberg.metrics.MetricsReporter;
import org.apache.iceberg.metrics.MetricsReporters;
import org.apache.iceberg.metrics.ScanMetrics;
import org.apache.iceberg.metrics.ScanMetricsResult;
import org.apache.iceberg.metrics.Timer;
import org.apache.iceberg.types.TypeUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import sluice.rowgroups.FilesLeftOut;

/**
 * Iceberg's scan of a table, which chooses its files from entries in memory where that is the same.
 *
 * <p>If it is not, or fails, Iceberg's own scan plans them.
 */
final class CachedScan implements BatchScan, FilesLeftOut {

    private static final Logger LOG = LoggerFactory.getLogger(CachedScan.class);

    private final BatchScan scan;
    private final CachedTable table;
    private final MetricsReporter reporter;
    private final Map<String, String> options;
    private final boolean ignoresResiduals;
    /** Whether tasks have the bounds of their files, which entries in memory do not have. */
    private final boolean hasBounds;
    private volatile long filesLeftOut = 0;

    CachedScan(BatchScan scan, CachedTable table) {
        this(scan, table, table.reporter(), Map.of(), false, false);
    }

    private CachedScan(
            BatchScan scan,
            CachedTable table,
            MetricsReporter reporter,
            Map<String, String> options,
            boolean ignoresResiduals,
            boolean hasBounds) {
        this.scan = scan;
        this.table = table;
        this.reporter = reporter;
        this.options = options;
        this.ignoresResiduals = ignoresResiduals;
        this.hasBounds = hasBounds;
    }

    @Override
    public CloseableIterable<ScanTask> planFiles() {
        Snapshot snapshot = scan.snapshot();
        if (snapshot == null || hasBounds || !table.canPlan(snapshot)) {
            return scan.planFiles();
        }
        ScanMetrics metrics = ScanMetrics.of(new DefaultMetricsContext());
        Timer.Timed duration = metrics.totalPlanningDuration().start();
        FilePlanner.Planned found = planned(snapshot, metrics);
        if (found == null) {
            return scan.planFiles();
        }
        filesLeftOut = found.filesLeftOut();
        duration.stop();
        Listeners.notifyAll(new ScanEvent(table.name(), snapshot.snapshotId(), filter(), schema()));
        return CloseableIterable.whenComplete(
            CloseableIterable.withNoopClose(found.tasks()), () -> report(snapshot, metrics));
    }

    /** Returns null if Iceberg has to plan them. */
    private FilePlanner.Planned planned(Snapshot snapshot, ScanMetrics metrics) {
        try {
            return new FilePlanner(table, snapshot, filter(), isCaseSensitive(), ignoresResiduals).plan(metrics);
        } catch (InterruptedException canceled) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(canceled);
        } catch (ExecutionException | RuntimeException failure) {
            LOG.warn("Iceberg plans the files of {}: {}", table.name(), failure.getClass().getName());
            return null;
        }
    }

    /** Reports what Iceberg's own scan would. */
    private void report(Snapshot snapshot, ScanMetrics metrics) {
        Schema read = schema();
        List<Integer> ids = List.copyOf(TypeUtil.getProjectedIds(read));
        Map<String, String> metadata = new HashMap<>(options);
        metadata.putAll(EnvironmentContext.get());
        reporter.report(ImmutableScanReport.builder()
            .schemaId(read.schemaId())
            .projectedFieldIds(ids)
            .projectedFieldNames(ids.stream().map(read::findColumnName).toList())
            .tableName(table.name())
            .snapshotId(snapshot.snapshotId())
            .filter(ExpressionUtil.sanitize(read.asStruct(), filter(), isCaseSensitive()))
            .scanMetrics(ScanMetricsResult.fromScanMetrics(metrics))
            .metadata(metadata)
            .build());
    }

    private CachedScan with(BatchScan refined) {
        return new CachedScan(refined, table, reporter, options, ignoresResiduals, hasBounds);
    }

    private CachedScan withBounds(BatchScan refined) {
        return new CachedScan(refined, table, reporter, options, ignoresResiduals, true);
    }

    @Override
    public BatchScan option(String property, String value) {
        Map<String, String> all = new HashMap<>(options);
        all.put(property, value);
        return new CachedScan(
            scan.option(property, value), table, reporter, Map.copyOf(all), ignoresResiduals, hasBounds);
    }

    @Override
    public BatchScan metricsReporter(MetricsReporter added) {
        return new CachedScan(
            scan.metricsReporter(added),
            table,
            MetricsReporters.combine(reporter, added),
            options,
            ignoresResiduals,
            hasBounds);
    }

    @Override
    public BatchScan ignoreResiduals() {
        return new CachedScan(scan.ignoreResiduals(), table, reporter, options, true, hasBounds);
    }

    @Override
    public BatchScan includeColumnStats() {
        return withBounds(scan.includeColumnStats());
    }

    @Override
    public BatchScan includeColumnStats(Collection<String> columns) {
        return withBounds(scan.includeColumnStats(columns));
    }

    @Override
    public BatchScan useSnapshot(long snapshotId) {
        return with(scan.useSnapshot(snapshotId));
    }

    @Override
    public BatchScan useRef(String ref) {
        return with(scan.useRef(ref));
    }

    @Override
    public BatchScan asOfTime(long timestampMillis) {
        return with(scan.asOfTime(timestampMillis));
    }

    @Override
    public BatchScan project(Schema schema) {
        return with(scan.project(schema));
    }

    @Override
    public BatchScan caseSensitive(boolean isCaseSensitive) {
        return with(scan.caseSensitive(isCaseSensitive));
    }

    @Override
    public BatchScan select(Collection<String> columns) {
        return with(scan.select(columns));
    }

    @Override
    public BatchScan filter(Expression condition) {
        return with(scan.filter(condition));
    }

    @Override
    public BatchScan planWith(ExecutorService executor) {
        return with(scan.planWith(executor));
    }

    @Override
    public BatchScan minRowsRequested(long rows) {
        return with(scan.minRowsRequested(rows));
    }

    @Override
    public Table table() {
        return scan.table();
    }

    @Override
    public Supplier<FileIO> fileIO() {
        return scan.fileIO();
    }

    @Override
    public Snapshot snapshot() {
        return scan.snapshot();
    }

    @Override
    public boolean isCaseSensitive() {
        return scan.isCaseSensitive();
    }

    @Override
    public Expression filter() {
        return scan.filter();
    }

    @Override
    public Schema schema() {
        return scan.schema();
    }

    @Override
    public long filesLeftOut() {
        return filesLeftOut;
    }

    @Override
    public CloseableIterable<ScanTaskGroup<ScanTask>> planTasks() {
        return scan.planTasks();
    }

    @Override
    public long targetSplitSize() {
        return scan.targetSplitSize();
    }

    @Override
    public int splitLookback() {
        return scan.splitLookback();
    }

    @Override
    public long splitOpenFileCost() {
        return scan.splitOpenFileCost();
    }
}
