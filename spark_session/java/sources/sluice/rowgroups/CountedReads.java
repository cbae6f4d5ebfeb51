package sluice.rowgroups;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.formats.FormatModel;
import org.apache.iceberg.formats.FormatModelRegistry;
import org.apache.iceberg.util.Pair;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets the readers of this JVM note how many row groups they select.
 *
 * <p>Iceberg decides for each row group when a task opens its file: by statistics, dictionaries and bloom filters. It
 * has no metric of that. Readers on executors of a cluster are in other JVMs, and are not counted.
 */
public final class CountedReads {

    private static final Logger LOG = LoggerFactory.getLogger(CountedReads.class);

    /**
     * Keeps at most so many bytes of counts; 0: readers are not counted.
     *
     * @param leavesOutFiles whether scans that choose their files from memory leave out those of which readers have
     *     selected nothing by the same filter
     */
    public void open(long maxBytes, boolean leavesOutFiles) {
        RowGroupCounts counts = RowGroupCounts.ofThisJvm();
        counts.keepAtMost(maxBytes);
        counts.noteEmptyFiles(leavesOutFiles && maxBytes > 0);
        if (maxBytes > 0) {
            try {
                replaceFormats();
            } catch (ReflectiveOperationException | RuntimeException | LinkageError failure) {
                LOG.warn("Row groups are not counted: {}", failure.getClass().getName());
            }
        }
    }

    /** Returns entries, bytes, hits, misses and evictions, with blanks in between. */
    public String use() {
        return RowGroupCounts.ofThisJvm().use();
    }

    /** Forgets all counts, and returns how many there were. */
    public int clear() {
        return RowGroupCounts.ofThisJvm().clear();
    }

    /** The registry takes no second model of a format. */
    @SuppressWarnings("unchecked")
    private static void replaceFormats() throws ReflectiveOperationException {
        Method method = FormatModelRegistry.class.getDeclaredMethod("models");
        method.setAccessible(true);
        var models = (Map<Pair<FileFormat, Class<?>>, FormatModel<?, ?>>) method.invoke(null);
        for (Class<?> rows : List.of(ColumnarBatch.class, InternalRow.class)) {
            models.computeIfPresent(Pair.of(FileFormat.PARQUET, rows), (key, model) -> counted(model));
        }
    }

    private static FormatModel<?, ?> counted(FormatModel<?, ?> model) {
        return model instanceof CountedFormat
            ? model
            : new CountedFormat<>(model, RowGroupCounts.ofThisJvm());
    }
}
