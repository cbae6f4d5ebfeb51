package sluice.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class LruMapTest {

    @Test
    void theEntryThatWasUsedLeastRecentlyIsForgotten() {
        Map<String, Integer> map = new LruMap<>(2);
        map.put("a", 1);
        map.put("b", 2);
        map.get("a");
        map.put("c", 3);
        assertEquals(Set.of("a", "c"), map.keySet());
    }
}
