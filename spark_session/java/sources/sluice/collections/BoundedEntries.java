package sluice.collections;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * Values that can be made again, up to a number of bytes. If there are more, the entry whose last use is the oldest goes
 * first. Several threads may use it.
 */
public final class BoundedEntries {

    /** The memory of an entry besides its value, about. It also bounds the number of entries. */
    private static final long ENTRY_BYTES = 512;
    /** A larger part of all bytes would evict too many others. */
    private static final int PARTS = 2;
    private static final int INITIAL_CAPACITY = 64;
    private static final float LOAD_FACTOR = 0.75f;

    private final Map<Object, Entry> entries = new LinkedHashMap<>(INITIAL_CAPACITY, LOAD_FACTOR, true);
    private long mostBytes;
    private long bytes;
    private long hits;
    private long misses;
    private long evictions;

    /** A value and its size. */
    public record Entry(Object value, long bytes) {}

    /** Bounds the size of all entries, and makes room if there are more. */
    public synchronized void keepAtMost(long bytesAtMost) {
        mostBytes = bytesAtMost;
        evict();
    }

    /** Returns entries, bytes, hits, misses and evictions, with blanks in between. */
    public synchronized String use() {
        return entries.size() + " " + bytes + " " + hits + " " + misses + " " + evictions;
    }

    /**
     * Returns the value of a key, and makes it if need be; null if it cannot be made. A value that takes more than half
     * of all bytes is returned, but not kept.
     *
     * <p>Two threads may make the same value, as neither waits for the other. Both get the one that was first.
     */
    public Object get(Object key, Supplier<Entry> make) {
        synchronized (this) {
            Entry found = entries.get(key);
            if (found != null) {
                hits++;
                return found.value();
            }
        }
        Entry made = make.get();
        return made == null ? null : firstOf(key, made);
    }

    /** Returns the value of a key, and counts the request; null if there is none. */
    public synchronized Object find(Object key) {
        Object found = peek(key);
        if (found == null) {
            misses++;
        } else {
            hits++;
        }
        return found;
    }

    /** Counts a request whose value could not be used. */
    public synchronized void countMiss() {
        misses++;
    }

    /** Returns the value of a key without counting the request; null if there is none. */
    public synchronized Object peek(Object key) {
        Entry found = entries.get(key);
        return found == null ? null : found.value();
    }

    /** Keeps a value in place of the one before. One that takes more than half of all bytes is not kept. */
    public synchronized void put(Object key, Entry made) {
        remove(key);
        keep(key, made);
    }

    /** Removes the value of a key, if there is one. */
    public synchronized void remove(Object key) {
        Entry removed = entries.remove(key);
        if (removed != null) {
            bytes -= removed.bytes();
        }
    }

    /** Removes the values of all these keys. */
    public synchronized void removeIf(Predicate<Object> isRemoved) {
        for (Iterator<Map.Entry<Object, Entry>> each = entries.entrySet().iterator(); each.hasNext();) {
            Map.Entry<Object, Entry> entry = each.next();
            if (isRemoved.test(entry.getKey())) {
                bytes -= entry.getValue().bytes();
                each.remove();
            }
        }
    }

    /** Removes all values, and returns how many there were. The counts go on. */
    public synchronized int clear() {
        int count = entries.size();
        entries.clear();
        bytes = 0;
        return count;
    }

    /** Whether there is a value now. It does not count as a use. */
    public synchronized boolean has(Object key) {
        return entries.containsKey(key);
    }

    private synchronized Object firstOf(Object key, Entry made) {
        misses++;
        Entry before = entries.get(key);
        if (before != null) {
            return before.value();
        }
        keep(key, made);
        return made.value();
    }

    private void keep(Object key, Entry made) {
        Entry counted = new Entry(made.value(), made.bytes() + ENTRY_BYTES);
        if (counted.bytes() <= mostBytes / PARTS) {
            entries.put(key, counted);
            bytes += counted.bytes();
            evict();
        }
    }

    private void evict() {
        Iterator<Entry> oldest = entries.values().iterator();
        while (bytes > mostBytes && oldest.hasNext()) {
            bytes -= oldest.next().bytes();
            oldest.remove();
            evictions++;
        }
    }
}
