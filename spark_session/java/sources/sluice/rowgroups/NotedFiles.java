package sluice.rowgroups;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.Schema;
import org.apache.iceberg.StructLike;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.relocated.com.google.common.hash.HashCode;

/**
 * The files of one scan that need not be read, because readers have noted that its filter selects none of their row
 * groups. Iceberg's files never change. A file of which anything is not certain is read. One thread uses it.
 */
public final class NotedFiles {

    /** So long it makes rests of filters, beyond the first ones. */
    private static final long MOST_NANOS = 100_000_000;
    private static final int FIRST_ONES = 64;

    /** Null: no scan asks. */
    private final EmptyFiles empty;
    private final FilterHashes filters;
    private final boolean isCaseSensitive;
    private final Map<Place, HashCode> hashes = new HashMap<>();
    private long usedNanos = 0;
    private long leftOut = 0;

    /** Files of one partition have the same rest of a filter. */
    private record Place(int spec, StructLike partition) {}

    private NotedFiles(EmptyFiles empty, Schema schema, boolean isCaseSensitive) {
        this.empty = empty;
        this.filters = new FilterHashes(schema);
        this.isCaseSensitive = isCaseSensitive;
    }

    /** Returns the notes for a scan of a table with this schema; those of no file unless scans are to use them. */
    public static NotedFiles of(Schema schema, boolean isCaseSensitive) {
        return of(schema, isCaseSensitive, RowGroupCounts.ofThisJvm());
    }

    static NotedFiles of(Schema schema, boolean isCaseSensitive, RowGroupCounts counts) {
        return new NotedFiles(counts.emptyFiles(), schema, isCaseSensitive);
    }

    /** Returns notes that name no file. */
    public static NotedFiles none() {
        return new NotedFiles(null, new Schema(), true);
    }

    /**
     * Whether a file may have a row group that the filter selects.
     *
     * @param residual makes the rest of the scan's filter for the partition of the file; it is called only if needed.
     */
    public boolean mayHaveRows(DataFile file, Supplier<Expression> residual) {
        boolean isPossible = empty != null
            && file.format() == FileFormat.PARQUET
            && empty.mayHave(file.location());
        if (!isPossible) {
            return true;
        }
        boolean isEmpty = isEmpty(file, residual);
        leftOut += isEmpty ? 1 : 0;
        return !isEmpty;
    }

    /** Returns how many files had no such row group. */
    public long leftOut() {
        return leftOut;
    }

    private boolean isEmpty(DataFile file, Supplier<Expression> residual) {
        HashCode filter = hashOf(new Place(file.specId(), file.partition()), residual);
        return filter != null
            && empty.has(new EmptyFiles.Key(file.location(), file.fileSizeInBytes(), isCaseSensitive, filter));
    }

    /** Returns null if readers note nothing of such a filter. */
    private HashCode hashOf(Place place, Supplier<Expression> residual) {
        if (hashes.containsKey(place)) {
            return hashes.get(place);
        }
        if (hashes.size() >= FIRST_ONES && usedNanos > MOST_NANOS) {
            return null;
        }
        long begun = System.nanoTime();
        HashCode made = hash(residual);
        usedNanos += System.nanoTime() - begun;
        hashes.put(place, made);
        return made;
    }

    private HashCode hash(Supplier<Expression> residual) {
        try {
            Expression filter = residual.get();
            return filter.op() == Expression.Operation.TRUE ? null : filters.of(filter);
        } catch (RuntimeException | StackOverflowError failure) {
            // A filter of very many parts is nested as deeply.
            return null;
        }
    }
}
