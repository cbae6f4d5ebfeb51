package sluice.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static sluice.collections.Lists.last;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.map;
import static sluice.collections.Lists.optional;
import static sluice.collections.Lists.parts;
import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.Tuple2;
import scala.jdk.javaapi.CollectionConverters;

final class ListsTest {

    @Test
    void aListIsTheSameThereAndBack() {
        for (List<String> values : List.of(List.<String>of(), List.of("a"), List.of("a", "b", "a"))) {
            assertEquals(values, list(seq(values)));
        }
    }

    @Test
    void aSequenceIsACopy() {
        List<Integer> values = new ArrayList<>(List.of(1, 2));
        scala.collection.immutable.Seq<Integer> copy = seq(values);
        values.clear();
        assertEquals(List.of(1, 2), list(copy));
    }

    @Test
    void theLastValueIsReturned() {
        assertEquals("b", last(seq(List.of("a", "b"))));
        assertThrows(IndexOutOfBoundsException.class, () -> last(seq(List.of())));
    }

    @Test
    void aMissingKeyIsNull() {
        Map<String, Integer> values = map(CollectionConverters.asScala(Map.of("a", 1)));
        assertEquals(1, values.get("a"));
        assertEquals(null, values.get("b"));
    }

    @Test
    void valuesOfASubclassMakeASequence() {
        scala.collection.immutable.Seq<CharSequence> values = seq(List.of("a", "b"));
        assertEquals(List.of("a", "b"), list(values));
    }

    @Test
    void aMissingValueMakesASequence() {
        assertEquals(Arrays.asList("a", null), list(seq(Arrays.asList("a", null))));
    }

    @Test
    void anOptionStaysOne() {
        assertEquals(Optional.of("a"), optional(Option.apply("a")));
        assertEquals(Optional.empty(), optional(Option.empty()));
    }

    @Test
    void theFieldsOfAProductAreItsParts() {
        List<Object> found = new ArrayList<>();
        parts(new Tuple2<>("a", 1)).forEach(found::add);
        assertEquals(List.of("a", 1), found);
    }
}
