package sluice.stored;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class PartsTest {

    private static Part part(long rows, long bytes) {
        return rows == 0 ? Part.inline(new byte[0], List.of())
            : Part.inFile("a", List.of(new Batch(0, bytes + 100, rows, bytes)));
    }

    @Test
    void partsCountInTheirOrderWhateverTheOrderOfTheirArrival() {
        Parts parts = new Parts(3, 100, 1_000);
        assertFalse(parts.take(2, part(3, 30)));
        assertEquals(List.of(), parts.first());
        assertFalse(parts.take(0, part(1, 10)));
        assertFalse(parts.isDecided());
        assertFalse(parts.take(1, part(0, 0)));
        assertTrue(parts.isDecided());
        assertEquals(List.of(1L, 0L, 3L), parts.first().stream().map(Part::rows).toList());
    }

    @Test
    void laterPartsAreNotNeededWhenTheFirstOnesHaveOneRowTooMany() {
        Parts parts = new Parts(4, 100, 1_000);
        assertFalse(parts.take(3, part(500, 50)));
        assertFalse(parts.take(0, part(100, 10)));
        assertTrue(parts.take(1, part(1, 10)));
        assertEquals(2, parts.first().size());
    }

    @Test
    void partsBehindThoseThatAreEnoughAreDroppedWhileOthersAreMissing() {
        Parts parts = new Parts(6, 100, 1_000);
        parts.take(5, named("five", 60));
        parts.take(3, named("three", 60));
        assertEquals(List.of(), parts.takeDropped());
        parts.take(2, named("two", 41));
        assertEquals(List.of("five"), parts.takeDropped());
        assertEquals(List.of(), parts.takeDropped());
        parts.take(4, named("four", 1));
        assertEquals(List.of("four"), parts.takeDropped());
        assertFalse(parts.take(0, part(0, 0)));
        assertTrue(parts.take(1, part(0, 0)));
        assertEquals(List.of(0L, 0L, 41L, 60L), parts.first().stream().map(Part::rows).toList());
    }

    private static Part named(String file, long rows) {
        return Part.inFile(file, List.of(new Batch(0, 8, rows, 1)));
    }

    @Test
    void bytesCutAsRowsDo() {
        Parts parts = new Parts(4, 100, 1_000);
        assertFalse(parts.take(0, part(10, 1_000)));
        assertTrue(parts.take(1, part(1, 1)));
    }

    @Test
    void oneRowThatIsTooLargeWaitsForTheNextOne() {
        Parts parts = new Parts(3, 100, 1_000);
        assertFalse(parts.take(0, part(1, 5_000)));
        assertFalse(parts.take(1, part(0, 0)));
        assertFalse(parts.isDecided());
        assertTrue(parts.take(2, part(1, 1)));
    }

    @Test
    void aPartThatCannotBeWrittenEndsTheResultUnlessItIsNotNeeded() {
        Parts parts = new Parts(3, 100, 1_000);
        assertTrue(parts.take(1, Part.failed(Part.Failure.NO_ROOM)));
        assertEquals(Part.Failure.NO_ROOM, parts.failure());
        parts.take(0, part(101, 10));
        assertNull(parts.failure());
    }

    @Test
    void aPartTravelsAsItIs() {
        Part part = new Part(null, "a", new byte[0], List.of(new Batch(0, 8, 3, 1), new Batch(8, 16, 4, 2)));
        Part arrived = Part.of(part.packed());
        assertEquals(part.batches(), arrived.batches());
        assertEquals("a", arrived.file());
        assertEquals(Part.Failure.CANNOT_WRITE, Part.of(Part.failed(Part.Failure.CANNOT_WRITE).packed()).failure());
    }

    @Test
    void allPartsTogetherSendNoMoreThanTheDriverTakes() {
        PartBounds bounds = new PartBounds(1, 1, 1, 1, 1_000);
        assertEquals(1_000, bounds.sharedBy(2, 4_000).inlineBytes());
        assertEquals(4, bounds.sharedBy(1_000, 4_000).inlineBytes());
        assertEquals(0, bounds.sharedBy(5_000, 4_000).inlineBytes());
        assertEquals(1_000, bounds.sharedBy(0, 4_000).inlineBytes());
    }
}
