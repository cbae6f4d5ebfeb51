package sluice.files;

/** What the file cache of this JVM has, for the gateway. */
public final class FileCacheUse {

    /** Returns entries, bytes, hits, misses, evictions and the bound in bytes, with blanks in between. */
    public String use() {
        return FileCache.useOfThisJvm();
    }

    /** Forgets all files, and returns how many there were. */
    public int clear() {
        return FileCache.clearOfThisJvm();
    }
}
