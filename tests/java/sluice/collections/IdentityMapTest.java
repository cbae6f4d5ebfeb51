package sluice.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

final class IdentityMapTest {

    private final IdentityMap<Object, Integer> map = new IdentityMap<>();

    @Test
    void equalKeysAreOthers() {
        String first = new String("key");
        String second = new String("key");
        map.put(first, 1);
        assertEquals(1, map.get(first));
        assertNull(map.get(second));
        map.put(first, 2);
        assertEquals(2, map.get(first));
        assertEquals(1, map.size());
    }

    @Test
    void keysAreNotKeptInMemory() throws Exception {
        map.put(new Object(), 1);
        for (int times = 0; times < 50 && map.size() > 0; times++) {
            System.gc();
            Thread.sleep(20);
        }
        assertEquals(0, map.size());
    }
}
