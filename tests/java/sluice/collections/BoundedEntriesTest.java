package sluice.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import sluice.collections.BoundedEntries.Entry;

final class BoundedEntriesTest {

    private static final long KIB = 1024;

    private final BoundedEntries entries = new BoundedEntries();
    private int made;

    @BeforeEach
    void bound() {
        entries.keepAtMost(10 * KIB);
    }

    @Test
    void aValueIsMadeOnce() {
        Object first = get("a", KIB);
        assertSame(first, get("a", KIB));
        assertEquals(1, made);
        assertEquals("1 1536 1 1 0", entries.use());
    }

    @Test
    void allAreForgottenAtOnce() {
        get("a", KIB);
        get("b", KIB);
        assertEquals(2, entries.clear());
        assertEquals("0 0 0 2 0", entries.use());
        get("a", KIB);
        assertEquals(3, made);
    }

    @Test
    void theOneThatWasNotUsedForLongestGoesFirst() {
        get("a", 4 * KIB);
        get("b", 4 * KIB);
        get("a", 4 * KIB);
        get("c", 4 * KIB);
        get("a", 4 * KIB);
        assertEquals(3, made);
        get("b", 4 * KIB);
        assertEquals(4, made);
    }

    @Test
    void whatIsTooLargeEvictsNothing() {
        Object small = get("a", KIB);
        get("b", 9 * KIB);
        assertSame(small, get("a", KIB));
        get("b", 9 * KIB);
        assertEquals(3, made);
        assertEquals("1 1536 1 3 0", entries.use());
    }

    @Test
    void manyEntriesWithoutBytesAreBoundedToo() {
        for (int at = 0; at < 100; at++) {
            get(at, 0);
        }
        assertEquals("20 10240 0 100 80", entries.use());
    }

    @Test
    void whatCannotBeMadeIsNoEntry() {
        assertNull(entries.get("a", () -> null));
        assertEquals("0 0 0 0 0", entries.use());
    }

    private Object get(Object key, long bytes) {
        return entries.get(key, () -> {
            made++;
            return new Entry(new Object(), bytes);
        });
    }
}
