package sluice.rowgroups;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.regex.Pattern;
import org.apache.iceberg.relocated.com.google.common.hash.HashCode;
import sluice.collections.BoundedEntries;

/**
 * Which files have no row group that a filter selects, as the readers of this JVM have noted. Several threads may use it.
 *
 * <p>A file is read in parts. It counts once no part of it is left in which a reader may have selected a row group.
 */
final class EmptyFiles {

    /** Parquet begins with as many bytes that are in no row group. */
    private static final long HEAD_BYTES = 4;
    /**
     * A UUID in the name of a file. Two stores may have different files under one address, and so may one store, one
     * after the other. No writer draws a UUID a second time.
     */
    private static final Pattern DRAWN =
        Pattern.compile("[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}");
    private static final int MARKS = 1 << 20;

    private final BoundedEntries entries;
    /** A bit for each hash of an address that was noted since the start: most files need no look at the entries. */
    private final AtomicLongArray marks = new AtomicLongArray(MARKS / Long.SIZE);

    /** A file as a filter sees it. The filter is hashed with its columns: see `FilterHashes`. */
    record Key(String location, long fileBytes, boolean isCaseSensitive, HashCode filter) {}

    /** Keeps its notes among these entries. */
    EmptyFiles(BoundedEntries entries) {
        this.entries = entries;
    }

    /** Notes that a reader has selected no row group of this part of a file. */
    void note(Key key, long start, long length) {
        if (!DRAWN.matcher(key.location()).region(nameOf(key.location()), key.location().length()).find()) {
            return;
        }
        synchronized (this) {
            CoveredBytes found = (CoveredBytes) entries.peek(key);
            CoveredBytes covered = (found == null ? CoveredBytes.NONE : found).with(start, start + length);
            if (!covered.equals(found)) {
                entries.put(key, new BoundedEntries.Entry(covered, key.location().length() + covered.memory()));
            }
        }
        int mark = mark(key.location());
        marks.accumulateAndGet(mark / Long.SIZE, 1L << mark, (before, added) -> before | added);
    }

    /** Whether there may be a note of this file. */
    boolean mayHave(String location) {
        int mark = mark(location);
        return (marks.get(mark / Long.SIZE) & 1L << mark) != 0;
    }

    /** Whether no row group of the file is selected, of all its parts. */
    boolean has(Key key) {
        return entries.peek(key) instanceof CoveredBytes covered && covered.hasAll(HEAD_BYTES, key.fileBytes());
    }

    private static int nameOf(String location) {
        return location.lastIndexOf('/') + 1;
    }

    private static int mark(String location) {
        int hash = location.hashCode();
        return (hash ^ hash >>> Short.SIZE) & MARKS - 1;
    }
}
