package sluice.files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class FileCacheTest {

    private static final int KIB = 1024;

    private final FileCache cache = new FileCache();

    @BeforeEach
    void bound() {
        cache.keepAtMost(16 * KIB);
    }

    @Test
    void theFileThatWasNotReadForLongestMakesRoom() {
        put("a", 5 * KIB);
        put("b", 5 * KIB);
        assertNotNull(cache.find(key("a"), -1));
        put("c", 5 * KIB);
        assertNotNull(cache.find(key("a"), -1));
        assertNull(cache.find(key("b"), -1));
        assertEquals("2 11268 2 1 1 16384", cache.use());
    }

    @Test
    void aFileOfAnotherSizeIsAnotherOne() {
        put("a", KIB);
        assertNotNull(cache.find(key("a"), KIB));
        assertNull(cache.find(key("a"), KIB + 1));
        assertNull(cache.find(key("a"), -1));
    }

    @Test
    void aFileThatWasRemovedWhileItWasReadIsNotCached() {
        long before = cache.removals(key("a"));
        cache.remove(key("a"));
        cache.put(key("a"), new CachedBytes(1, new byte[1]), before);
        assertNull(cache.find(key("a"), -1));
        before = cache.removals(key("a"));
        cache.removeBelow("other", "b");
        cache.put(key("a"), new CachedBytes(1, new byte[1]), before);
        assertNull(cache.find(key("a"), -1));
    }

    @Test
    void aFileIsCachedThoughManyOthersAreWritten() {
        long before = cache.removals(key("a"));
        for (String other : new String[] {"b", "c", "d"}) {
            cache.remove(key(other));
        }
        cache.put(key("a"), new CachedBytes(1, new byte[1]), before);
        assertNotNull(cache.find(key("a"), -1));
    }

    @Test
    void allFilesBelowAPrefixAreRemoved() {
        put("t/a", KIB);
        put("t/b", KIB);
        put("u/a", KIB);
        cache.removeBelow("lake", "t/");
        assertEquals(-1, cache.sizeOf(key("t/a")));
        assertEquals(-1, cache.sizeOf(key("t/b")));
        assertEquals(KIB, cache.sizeOf(key("u/a")));
        cache.remove(key("u/a"));
        assertEquals("0 0 0 0 0 16384", cache.use());
    }

    @Test
    void aFooterBecomesTheWholeFile() {
        cache.put(key("a"), new CachedBytes(3, new byte[] {3}), cache.removals(key("a")));
        cache.put(key("a"), new CachedBytes(3, new byte[] {1, 2, 3}), cache.removals(key("a")));
        assertArrayEquals(new byte[] {1, 2, 3}, cache.find(key("a"), 3).bytes());
        assertEquals("1 517 1 0 0 16384", cache.use());
    }

    @Test
    void itNeverTakesMoreThanAQuarterOfTheHeap() {
        cache.keepAtMost(Long.MAX_VALUE);
        String[] use = cache.use().split(" ");
        assertEquals(Runtime.getRuntime().maxMemory() / 4, Long.parseLong(use[5]));
    }

    @Test
    void withNothingNothingIsCached() {
        cache.keepAtMost(0);
        put("a", 0);
        assertNull(cache.find(key("a"), -1));
        assertEquals(0, cache.largest(KIB));
    }

    private void put(String path, int size) {
        cache.put(key(path), new CachedBytes(size, new byte[size]), cache.removals(key(path)));
    }

    private static FileKey key(String path) {
        return FileKey.of("lake", path);
    }
}
