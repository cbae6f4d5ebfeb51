package sluice.manifests;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.function.Predicate;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableProperties;
import org.apache.iceberg.expressions.Binder;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.metrics.ScanMetrics;
import org.apache.iceberg.metrics.ScanMetricsUtil;
import org.apache.iceberg.util.ThreadPools;
import sluice.rowgroups.NotedFiles;

/**
 * Chooses the files of a scan as Iceberg does, from entries in memory: manifests by the bounds of their partitions,
 * files by their partition and by the bounds of their columns. Iceberg's own evaluators decide, the tuples of the
 * query, and what readers have noted of their row groups.
 *
 * @param ignoresResiduals whether tasks are without the rest of the filter
 */
record FilePlanner(
        CachedTable table, Snapshot snapshot, Expression filter, boolean isCaseSensitive, boolean ignoresResiduals) {

    private static final DeleteFile[] NO_DELETES = new DeleteFile[0];

    /** Whether a manifest has other entries than those of removed files. */
    static boolean hasLiveFiles(ManifestFile manifest) {
        return manifest.hasAddedFiles() || manifest.hasExistingFiles();
    }

    /** The tasks of a scan, and how many files it has left out only because of what readers have noted. */
    record Planned(List<ScanTask> tasks, long filesLeftOut) {}

    /**
     * Returns the tasks that Iceberg would plan, in the order of the manifests, without those of files in which readers
     * have found nothing by the same filter; null if their entries do not fit into the memory.
     */
    Planned plan(ScanMetrics metrics) throws InterruptedException, ExecutionException {
        ManifestCache cache = table.cache();
        ManifestCache.SnapshotManifests manifests = cache.manifestsOf(table, snapshot);
        Map<Integer, SpecFilter> filters = new HashMap<>();
        List<ManifestFile> chosen = new ArrayList<>();
        for (ManifestFile manifest : manifests.ofData()) {
            SpecFilter ofSpec = filters.computeIfAbsent(manifest.partitionSpecId(), this::filterOf);
            if (ofSpec.mayHaveRows(manifest) && hasLiveFiles(manifest)) {
                chosen.add(manifest);
            }
        }
        if (!cache.fitsDeletes(filesIn(manifests.ofDeletes()))) {
            return null;
        }
        DeleteIndex deletes = cache.deletesOf(table, snapshot, manifests.ofDeletes(), isCaseSensitive);
        TupleChoice tuples = TupleChoice.of(table, snapshot);
        Set<Integer> named = columnsOf(deletes);
        Set<Integer> columns = cache.columnsToKeep(table, tuples.with(named), filesIn(chosen));
        if (columns == null) {
            return null;
        }
        List<List<DataFile>> files = read(chosen, columns);
        metrics.totalDataManifests().increment(manifests.ofData().size());
        metrics.totalDeleteManifests().increment(manifests.ofDeletes().size());
        metrics.scannedDataManifests().increment(chosen.size());
        metrics.skippedDataManifests().increment(manifests.ofData().size() - chosen.size());
        List<ScanTask> tasks = new ArrayList<>();
        NotedFiles noted = notedFiles();
        for (int at = 0; at < chosen.size(); at++) {
            SpecFilter ofSpec = filters.get(chosen.get(at).partitionSpecId());
            Predicate<DataFile> hasTuples = tuples.ofSpec(chosen.get(at).partitionSpecId());
            Predicate<DataFile> mayHaveRows =
                file -> hasTuples.test(file) && noted.mayHaveRows(file, () -> ofSpec.residualOf(file));
            addTasks(files.get(at), ofSpec, mayHaveRows, deletes, tasks, metrics);
        }
        tuples.noteUse();
        return new Planned(tasks, noted.leftOut());
    }

    /**
     * A scan without residuals wants whole files, as statements do that write them again. With a mapping of names, the
     * table says which columns a file has, and may say otherwise later.
     */
    private NotedFiles notedFiles() {
        boolean hasMapping = table.loaded().properties().containsKey(TableProperties.DEFAULT_NAME_MAPPING);
        return ignoresResiduals || hasMapping
            ? NotedFiles.none()
            : NotedFiles.of(table.loaded().schema(), isCaseSensitive);
    }

    private SpecFilter filterOf(int spec) {
        return new SpecFilter(table.loaded().specsById().get(spec), filter, isCaseSensitive, ignoresResiduals);
    }

    /** Returns the columns that decide which files are read, and which delete files belong to them. */
    private Set<Integer> columnsOf(DeleteIndex deletes) {
        Set<Integer> named = Binder.boundReferences(table.loaded().schema().asStruct(), filter, isCaseSensitive);
        if (deletes == null || deletes.equalityColumns().isEmpty()) {
            return named;
        }
        Set<Integer> all = new HashSet<>(named);
        all.addAll(deletes.equalityColumns());
        return all;
    }

    private static long filesIn(List<ManifestFile> manifests) {
        long files = 0;
        for (ManifestFile manifest : manifests) {
            files += count(manifest.addedFilesCount()) + count(manifest.existingFilesCount());
        }
        return files;
    }

    private static long count(Integer known) {
        return known == null ? 0 : known;
    }

    /** Several manifests are read at the same time, as Iceberg does. */
    private List<List<DataFile>> read(List<ManifestFile> manifests, Set<Integer> columns)
            throws InterruptedException, ExecutionException {
        ManifestCache cache = table.cache();
        List<List<DataFile>> found = new ArrayList<>();
        List<Future<List<DataFile>>> open = new ArrayList<>();
        boolean isKnown = manifests.size() < 2 || cache.hasAll(table, manifests, columns);
        try {
            for (ManifestFile manifest : manifests) {
                if (isKnown) {
                    found.add(cache.filesOf(table, manifest, columns));
                } else {
                    open.add(ThreadPools.getWorkerPool().submit(() -> cache.filesOf(table, manifest, columns)));
                }
            }
            for (Future<List<DataFile>> each : open) {
                found.add(each.get());
            }
            return found;
        } finally {
            open.forEach(each -> each.cancel(true));
        }
    }

    private static void addTasks(
            List<DataFile> files,
            SpecFilter filter,
            Predicate<DataFile> mayHaveRows,
            DeleteIndex deletes,
            List<ScanTask> tasks,
            ScanMetrics metrics) {
        int before = tasks.size();
        for (DataFile file : files) {
            if (filter.mayHaveRows(file) && mayHaveRows.test(file)) {
                DeleteFile[] ofFile = deletes == null ? NO_DELETES : deletes.of(file);
                ScanMetricsUtil.fileTask(metrics, file, ofFile);
                tasks.add(filter.taskOf(file, ofFile));
            }
        }
        metrics.skippedDataFiles().increment(files.size() - (tasks.size() - before));
    }
}
