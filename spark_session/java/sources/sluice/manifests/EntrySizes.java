package sluice.manifests;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.ContentFile;
import org.apache.iceberg.DeleteFile;
import org.apache.iceberg.ManifestFile;

/** About how many bytes of memory entries take, in a JVM with compressed pointers. */
final class EntrySizes {

    /** The object with its partition values and split offsets. */
    private static final long FILE_BYTES = 500;
    private static final long MAP_BYTES = 130;
    private static final long MAPS = 6;
    /** A node of a map, its key, and a number or the header of a buffer. */
    private static final long VALUE_BYTES = 100;
    private static final long NUMBERS_OF_COLUMN = 4;
    private static final long BOUNDS_OF_COLUMN = 2;
    /** Most bounds are numbers; texts are cut at 16 characters, unless the table says otherwise. */
    private static final long BOUND_BYTES = 16;
    private static final long PATH_BYTES = 200;
    private static final long MANIFEST_BYTES = 800;
    private static final long INDEXED_BYTES = 150;

    private EntrySizes() {}

    /** Returns the memory of a file with the bounds of so many columns, before it is known. */
    static long ofFile(int columns) {
        long bounds = BOUNDS_OF_COLUMN * (VALUE_BYTES + BOUND_BYTES);
        return FILE_BYTES + PATH_BYTES + MAPS * MAP_BYTES + columns * (NUMBERS_OF_COLUMN * VALUE_BYTES + bounds);
    }

    /** Returns the memory of a file. */
    static long of(ContentFile<?> file) {
        return FILE_BYTES
            + file.location().length()
            + file.partition().size() * VALUE_BYTES
            + (file.splitOffsets() == null ? 0 : file.splitOffsets().size() * (long) Long.BYTES)
            + (file.keyMetadata() == null ? 0 : file.keyMetadata().remaining())
            + ofNumbers(file.columnSizes())
            + ofNumbers(file.valueCounts())
            + ofNumbers(file.nullValueCounts())
            + ofNumbers(file.nanValueCounts())
            + ofBounds(file.lowerBounds())
            + ofBounds(file.upperBounds());
    }

    static long ofManifests(List<ManifestFile> manifests) {
        return manifests.size() * MANIFEST_BYTES;
    }

    /** The files count here, too: an index keeps them when their manifests have made room. */
    static long ofIndex(List<DeleteFile> files) {
        return files.stream().mapToLong(each -> INDEXED_BYTES + of(each)).sum();
    }

    private static long ofNumbers(Map<Integer, Long> values) {
        return values == null ? 0 : MAP_BYTES + values.size() * VALUE_BYTES;
    }

    private static long ofBounds(Map<Integer, ByteBuffer> values) {
        if (values == null) {
            return 0;
        }
        return MAP_BYTES + values.values().stream().mapToLong(each -> VALUE_BYTES + each.capacity()).sum();
    }
}
