package sluice.files;

import sluice.collections.BoundedEntries;

/** The files, and the footers of files, that this JVM keeps in memory. Several threads may use it. */
final class FileCache {

    private static final FileCache OF_THIS_JVM = new FileCache();
    /** The cache never takes more than this part of the heap. */
    private static final int PARTS_OF_HEAP = 4;
    private static final int STRIPES = 64;

    private final BoundedEntries entries = new BoundedEntries();
    private volatile long askedBytes;
    private volatile long mostBytes;
    /** Removals of files, by a part of their hash: otherwise each file that is written would keep others out. */
    private final long[] removals = new long[STRIPES];

    /** Returns the cache of this JVM, and bounds it. */
    static FileCache ofThisJvm(long bytesAtMost) {
        OF_THIS_JVM.keepAtMost(bytesAtMost);
        return OF_THIS_JVM;
    }

    /** Returns what the cache of this JVM has: see `use`. */
    static String useOfThisJvm() {
        return OF_THIS_JVM.use();
    }

    /** Forgets all files, and returns how many there were. */
    static int clearOfThisJvm() {
        return OF_THIS_JVM.entries.clear();
    }

    void keepAtMost(long bytesAtMost) {
        if (askedBytes != bytesAtMost) {
            askedBytes = bytesAtMost;
            mostBytes = Math.min(bytesAtMost, Runtime.getRuntime().maxMemory() / PARTS_OF_HEAP);
            entries.keepAtMost(mostBytes);
        }
    }

    /** Returns the largest file that is worth reading as a whole. */
    long largest(long wanted) {
        return Math.min(wanted, mostBytes / PARTS_OF_HEAP);
    }

    /** Returns entries, bytes, hits, misses, evictions and the bound in bytes, with blanks in between. */
    String use() {
        return entries.use() + " " + mostBytes;
    }

    /** Returns what is cached of a file; null if nothing is. A file of another size is another one; -1: any size. */
    CachedBytes find(FileKey key, long fileBytes) {
        CachedBytes found = (CachedBytes) entries.find(key);
        if (found == null || fileBytes < 0 || found.fileBytes() == fileBytes) {
            return found;
        }
        remove(key);
        return null;
    }

    /** Returns the size of a file of which something is cached; -1 if nothing is. */
    long sizeOf(FileKey key) {
        CachedBytes found = (CachedBytes) entries.peek(key);
        return found == null ? -1 : found.fileBytes();
    }

    /** Returns a number that the removal of this file changes. Whoever reads a file to cache it calls this first. */
    synchronized long removals(FileKey key) {
        return removals[stripe(key)];
    }

    /** Caches a file, unless it may have been removed since `removals` was called. */
    synchronized void put(FileKey key, CachedBytes read, long removalsBefore) {
        if (removals[stripe(key)] == removalsBefore) {
            entries.put(key, new BoundedEntries.Entry(read, read.bytes().length + key.memory()));
        }
    }

    /** Forgets a file that is written or deleted. */
    synchronized void remove(FileKey key) {
        removals[stripe(key)]++;
        entries.remove(key);
    }

    /** Forgets all files of a catalog below a prefix. */
    synchronized void removeBelow(String catalog, String prefix) {
        for (int stripe = 0; stripe < STRIPES; stripe++) {
            removals[stripe]++;
        }
        entries.removeIf(key -> ((FileKey) key).isBelow(catalog, prefix));
    }

    private static int stripe(FileKey key) {
        return Math.floorMod(key.hashCode(), STRIPES);
    }
}
