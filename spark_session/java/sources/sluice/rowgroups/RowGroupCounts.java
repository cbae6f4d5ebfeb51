package sluice.rowgroups;

import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.relocated.com.google.common.hash.HashCode;
import sluice.collections.BoundedEntries;

/** The row groups that the readers of this JVM have selected in each part of a file. Several threads may use it. */
final class RowGroupCounts {

    private static final RowGroupCounts OF_THIS_JVM = new RowGroupCounts();

    private final BoundedEntries entries = new BoundedEntries();
    private final EmptyFiles emptyFiles = new EmptyFiles(entries);
    private volatile boolean notesEmptyFiles;

    /** Returns the counts of this JVM, which has one set of readers. */
    static RowGroupCounts ofThisJvm() {
        return OF_THIS_JVM;
    }

    void keepAtMost(long bytes) {
        entries.keepAtMost(bytes);
    }

    /** Notes from now on also of which files a filter selects nothing, or no longer. */
    void noteEmptyFiles(boolean isWanted) {
        notesEmptyFiles = isWanted;
    }

    /** Returns the files of which a filter selects nothing; null if scans do not ask. */
    EmptyFiles emptyFiles() {
        return notesEmptyFiles ? emptyFiles : null;
    }

    /** Returns entries, bytes, hits, misses and evictions, with blanks in between. */
    String use() {
        return entries.use();
    }

    /** Forgets all counts, and returns how many there were. */
    int clear() {
        return entries.clear();
    }

    /** Notes what a reader has selected in a part of a file; nothing if its filter is of an unknown kind. */
    void note(FilePart part, Expression filter, boolean isCaseSensitive, Schema read, RowGroups found) {
        HashCode hash = new FilterHashes(read).of(filter);
        if (hash == null) {
            return;
        }
        String location = part.file().location();
        SplitKey key = new SplitKey(location, part.start(), part.length(), hash);
        entries.put(key, new BoundedEntries.Entry(found, location.length()));
        if (notesEmptyFiles && found.selected() == 0) {
            // The reader has asked for the length, so it is known.
            EmptyFiles.Key file = new EmptyFiles.Key(location, part.file().getLength(), isCaseSensitive, hash);
            emptyFiles.note(file, part.start(), part.length());
        }
    }

    /** Returns what a reader has selected in this part of a file by the filter; null if it is not known. */
    RowGroups find(SplitKey key) {
        return (RowGroups) entries.find(key);
    }
}
