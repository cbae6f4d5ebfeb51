package sluice.rowgroups;

import java.io.IOException;
import java.util.function.Consumer;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.CloseableIterator;
import sluice.scans.PackagePrivate;

/**
 * The rows of a part of a Parquet file. When its reader has chosen the row groups, their numbers are noted.
 *
 * <p>All else is the reader's. A failure to count changes nothing.
 */
final class CountedRows<D> implements CloseableIterable<D> {

    private final CloseableIterable<D> rows;
    private final Consumer<RowGroups> noted;

    CountedRows(CloseableIterable<D> rows, Consumer<RowGroups> noted) {
        this.rows = rows;
        this.noted = noted;
    }

    @Override
    public CloseableIterator<D> iterator() {
        CloseableIterator<D> found = rows.iterator();
        try {
            RowGroups groups = chosen();
            if (groups != null) {
                noted.accept(groups);
            }
        } catch (ReflectiveOperationException | RuntimeException | LinkageError | StackOverflowError failure) {
            // Numbers for explanations must not cost the rows.
            return found;
        }
        return found;
    }

    @Override
    public void close() throws IOException {
        rows.close();
    }

    /** Returns null if the reader is of an unknown kind. */
    private RowGroups chosen() throws ReflectiveOperationException {
        Object read = PackagePrivate.field(rows, "conf");
        if (read == null || !(PackagePrivate.field(read, "shouldSkip") instanceof boolean[] skipped)) {
            return null;
        }
        int selected = 0;
        for (boolean isSkipped : skipped) {
            selected += isSkipped ? 0 : 1;
        }
        return new RowGroups(skipped.length, selected);
    }
}
