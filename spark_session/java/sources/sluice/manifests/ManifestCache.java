package sluice.manifests;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.ManifestFile;
import org.apache.iceberg.ManifestFiles;
import org.apache.iceberg.ManifestReader;
import org.apache.iceberg.Snapshot;
import org.apache.spark.sql.classic.SparkSession;
import sluice.collections.BoundedEntries;
import sluice.collections.LruMap;
import sluice.tuples.TupleSets;

/**
 * The entries of manifests, decoded once and kept. So a scan chooses its files without reading manifests again.
 *
 * <p>A snapshot never changes, and neither does a manifest. A commit costs its manifest list, and the manifests that
 * are new in it. Entries keep only the bounds of columns that filters have named. A table with another schema has
 * entries of its own: its partition values may be of other types. Several threads may use it.
 */
public final class ManifestCache {

    private static final int TABLES_KNOWN = 4096;

    private final BoundedEntries entries = new BoundedEntries();
    private final Map<TableState, Set<Integer>> namedColumns = new LruMap<>(TABLES_KNOWN);
    private final TupleSets tuples = new TupleSets();
    private volatile long mostBytes;

    /** A copy of a table may have the UUID and the snapshots of the first, but it has lists of its own. */
    private record ManifestsKey(TableState table, long snapshot, String list) {}

    /** After an upgrade, each branch numbers the rows of the manifests that were there before. */
    private record FilesKey(TableState table, String path, long length, Long firstRow, Set<Integer> columns) {}

    private record DeletesKey(ManifestsKey manifests, boolean isCaseSensitive) {}

    /** The manifests of a snapshot. */
    record SnapshotManifests(List<ManifestFile> ofData, List<ManifestFile> ofDeletes) {}

    /**
     * Lets the sessions that are opened from this one plan scans from memory. With 0 bytes, none of them does.
     *
     * @param tupleBytesAtMost the memory for tuples that scans choose files by
     */
    public void open(SparkSession root, long bytesAtMost, long tupleBytesAtMost) {
        if (bytesAtMost <= 0) {
            return;
        }
        keepAtMost(bytesAtMost);
        tuples.keepAtMost(tupleBytesAtMost);
        root.extensions().injectPreCBORule(session -> new CachedTables(this));
    }

    void keepAtMost(long bytesAtMost) {
        mostBytes = bytesAtMost;
        entries.keepAtMost(bytesAtMost);
    }

    /** Returns the tuples that scans choose files by. */
    public TupleSets tuples() {
        return tuples;
    }

    /** Returns entries, bytes, hits, misses and evictions, with blanks in between. */
    public String use() {
        return entries.use();
    }

    /** Forgets all entries, and returns how many there were. A query that uses one now keeps it. */
    public int clear() {
        return entries.clear();
    }

    /** Returns the manifests of a snapshot, in the order of its list. */
    SnapshotManifests manifestsOf(CachedTable table, Snapshot snapshot) {
        ManifestsKey key = keyOf(table, snapshot);
        return get(key, () -> {
            List<ManifestFile> ofData = distinct(snapshot.dataManifests(table.io()));
            List<ManifestFile> ofDeletes = distinct(snapshot.deleteManifests(table.io()));
            long bytes = EntrySizes.ofManifests(ofData) + EntrySizes.ofManifests(ofDeletes);
            return new BoundedEntries.Entry(new SnapshotManifests(ofData, ofDeletes), bytes);
        });
    }

    /** Iceberg reads a manifest once, even if the list has it twice. */
    private static List<ManifestFile> distinct(List<ManifestFile> manifests) {
        return manifests.stream().distinct().toList();
    }

    /**
     * Returns the columns whose bounds entries should have: those that this and earlier filters have named. Null if so
     * many files with bounds do not fit into the memory.
     */
    Set<Integer> columnsToKeep(CachedTable table, Set<Integer> named, long files) {
        synchronized (namedColumns) {
            Set<Integer> known = namedColumns.getOrDefault(table.state(), Set.of());
            Set<Integer> all = new HashSet<>(known);
            all.addAll(named);
            Set<Integer> found = fits(files, all.size()) ? all : named;
            if (!fits(files, found.size())) {
                return null;
            }
            Set<Integer> kept = found.equals(known) ? known : Set.copyOf(found);
            namedColumns.put(table.state(), kept);
            return kept;
        }
    }

    /** More would evict what the same scan has just read. */
    private boolean fits(long files, int columns) {
        return files * EntrySizes.ofFile(columns) <= mostBytes / 2;
    }

    /** Whether so many delete files fit into the memory: those of manifests, and those of their index. */
    boolean fitsDeletes(long files) {
        return fits(2 * files, 1);
    }

    /** Returns the live data files of a manifest, with bounds of these columns alone. Nobody may change them. */
    List<DataFile> filesOf(CachedTable table, ManifestFile manifest, Set<Integer> columns) {
        return get(keyOf(table, manifest, columns), () ->
            entryOf(ManifestFiles.read(manifest, table.io(), table.loaded().specsById()), columns));
    }

    /** Whether none of these manifests would have to be read. */
    boolean hasAll(CachedTable table, List<ManifestFile> manifests, Set<Integer> columns) {
        return manifests.stream().allMatch(each -> entries.has(keyOf(table, each, columns)));
    }

    private static ManifestsKey keyOf(CachedTable table, Snapshot snapshot) {
        return new ManifestsKey(table.state(), snapshot.snapshotId(), snapshot.manifestListLocation());
    }

    private static FilesKey keyOf(CachedTable table, ManifestFile manifest, Set<Integer> columns) {
        return new FilesKey(table.state(), manifest.path(), manifest.length(), manifest.firstRowId(), columns);
    }

    /** Returns the delete files of a snapshot; null if it has none. */
    DeleteIndex deletesOf(
            CachedTable table, Snapshot snapshot, List<ManifestFile> manifests, boolean isCaseSensitive) {
        if (manifests.isEmpty()) {
            return null;
        }
        return get(new DeletesKey(keyOf(table, snapshot), isCaseSensitive), () -> {
            List<DeleteFile> files = new ArrayList<>();
            manifests.stream().filter(FilePlanner::hasLiveFiles).forEach(each -> files.addAll(deletesOf(table, each)));
            DeleteIndex index = DeleteIndex.of(files, table, isCaseSensitive);
            return new BoundedEntries.Entry(index, EntrySizes.ofIndex(files));
        });
    }

    private List<DeleteFile> deletesOf(CachedTable table, ManifestFile manifest) {
        return get(keyOf(table, manifest, Set.of()), () -> {
            List<DeleteFile> found = new ArrayList<>();
            long bytes = 0;
            try (ManifestReader<DeleteFile> reader =
                    ManifestFiles.readDeleteManifest(manifest, table.io(), table.loaded().specsById())) {
                for (DeleteFile file : reader) {
                    DeleteFile kept = file.copyWithStats(DeleteIndex.columnsOf(file));
                    found.add(kept);
                    bytes += EntrySizes.of(kept);
                }
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
            return new BoundedEntries.Entry(List.copyOf(found), bytes);
        });
    }

    private static BoundedEntries.Entry entryOf(ManifestReader<DataFile> opened, Set<Integer> columns) {
        List<DataFile> found = new ArrayList<>();
        long bytes = 0;
        try (ManifestReader<DataFile> reader = opened) {
            for (DataFile file : reader) {
                DataFile kept = columns.isEmpty() ? file.copyWithoutStats() : file.copyWithStats(columns);
                found.add(kept);
                bytes += EntrySizes.of(kept);
            }
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return new BoundedEntries.Entry(List.copyOf(found), bytes);
    }

    @SuppressWarnings("unchecked")
    private <T> T get(Object key, Supplier<BoundedEntries.Entry> make) {
        return (T) entries.get(key, make);
    }
}
