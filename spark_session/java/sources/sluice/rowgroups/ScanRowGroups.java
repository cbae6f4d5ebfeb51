package sluice.rowgroups;

import java.util.List;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.ScanTask;
import org.apache.iceberg.ScanTaskGroup;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.relocated.com.google.common.hash.HashCode;

/**
 * The row groups that the tasks of a scan have selected, from what their readers have noted. Nothing is read for it.
 *
 * <p>A task without a filter selects all row groups of its part of a file. The table's metadata say where they begin.
 */
public final class ScanRowGroups {

    public static final long UNKNOWN = -1;

    private static final long MOST_NANOS = 100_000_000;
    private static final int TASKS_BETWEEN_LOOKS = 64;

    private final RowGroupCounts counts;
    private final FilterHashes filters;
    private final long endNanos = System.nanoTime() + MOST_NANOS;
    private int looked = 0;

    private ScanRowGroups(Schema schema, RowGroupCounts counts) {
        this.counts = counts;
        this.filters = new FilterHashes(schema);
    }

    /** Returns how many row groups these tasks have selected; -1 if that is not known of all of them. */
    public static long selectedOf(Schema schema, List<ScanTaskGroup<?>> groups) {
        return selectedOf(schema, groups, RowGroupCounts.ofThisJvm());
    }

    static long selectedOf(Schema schema, List<ScanTaskGroup<?>> groups, RowGroupCounts counts) {
        try {
            return new ScanRowGroups(schema, counts).sum(groups);
        } catch (RuntimeException | StackOverflowError failure) {
            // A filter of very many parts is nested as deeply.
            return UNKNOWN;
        }
    }

    /** Returns how many row groups a file has by the table's metadata; -1: they do not say. */
    public static long of(DataFile file) {
        List<Long> offsets = file.format() == FileFormat.PARQUET ? file.splitOffsets() : null;
        return offsets == null ? UNKNOWN : offsets.size();
    }

    /** Adds row groups to others; -1 if either is not known. */
    public static long sum(long some, long others) {
        return some == UNKNOWN || others == UNKNOWN ? UNKNOWN : some + others;
    }

    private long sum(List<ScanTaskGroup<?>> groups) {
        long sum = 0;
        for (ScanTaskGroup<?> group : groups) {
            for (ScanTask task : group.tasks()) {
                boolean isLate = ++looked % TASKS_BETWEEN_LOOKS == 0 && System.nanoTime() > endNanos;
                long selected = isLate || !task.isFileScanTask() ? UNKNOWN : selectedOf(task.asFileScanTask());
                if (selected == UNKNOWN) {
                    return UNKNOWN;
                }
                sum += selected;
            }
        }
        return sum;
    }

    private long selectedOf(FileScanTask task) {
        if (of(task.file()) == UNKNOWN) {
            return UNKNOWN;
        }
        long end = task.start() + task.length();
        long begun = task.file().splitOffsets().stream().filter(at -> at >= task.start() && at < end).count();
        Expression filter = task.residual();
        if (filter.op() == Expression.Operation.TRUE) {
            return begun;
        }
        HashCode hash = filters.of(filter);
        RowGroups found = hash == null
            ? null
            : counts.find(new SplitKey(task.file().location(), task.start(), task.length(), hash));
        // A writer may say of some row groups only where they begin.
        return found == null || found.total() != begun ? UNKNOWN : found.selected();
    }
}
