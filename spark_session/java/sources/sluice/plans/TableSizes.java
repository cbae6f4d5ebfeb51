package sluice.plans;

import org.apache.iceberg.Schema;
import org.apache.iceberg.Snapshot;
import org.apache.iceberg.TableMetadata;

/** About how many bytes of memory the metadata of a table take, in a JVM with compressed pointers. */
final class TableSizes {

    private static final long TABLE_BYTES = 4096;
    /** With its summary, an entry in the log, and the metadata file that it came with. */
    private static final long SNAPSHOT_BYTES = 3072;
    /** With its place in the indexes by name and by id. */
    private static final long COLUMN_BYTES = 512;
    /** A snapshot keeps the list of its manifests, once a scan has read it. */
    private static final long MANIFEST_BYTES = 800;
    private static final long FILES_OF_MANIFEST = 8;
    private static final String FILES = "total-data-files";

    private TableSizes() {}

    /** Returns the memory of a table's metadata, with the manifests of its current snapshot. */
    static long of(TableMetadata metadata) {
        long columns = metadata.schemas().stream().mapToLong(TableSizes::columnsOf).sum();
        return TABLE_BYTES
            + metadata.snapshots().size() * SNAPSHOT_BYTES
            + columns * COLUMN_BYTES
            + manifestsOf(metadata.currentSnapshot()) * MANIFEST_BYTES;
    }

    private static long columnsOf(Schema schema) {
        return schema.columns().size();
    }

    private static long manifestsOf(Snapshot snapshot) {
        String files = snapshot == null ? null : snapshot.summary().get(FILES);
        try {
            return files == null ? 0 : Long.parseLong(files) / FILES_OF_MANIFEST;
        } catch (NumberFormatException unknown) {
            return 0;
        }
    }
}
