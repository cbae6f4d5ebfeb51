package sluice.rowgroups;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.BitSet;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class CoveredBytesTest {

    private static final int BYTES = 60;

    @Test
    void rangesCoverWhatTheyHaveTogether() {
        Random chosen = new Random(2);
        for (int round = 0; round < 200; round++) {
            CoveredBytes covered = CoveredBytes.NONE;
            BitSet expected = new BitSet();
            for (int part = 0; part < 6; part++) {
                int first = chosen.nextInt(BYTES);
                int end = first + 1 + chosen.nextInt(20);
                covered = covered.with(first, end);
                expected.set(first, end);
                int from = chosen.nextInt(BYTES);
                int to = from + 1 + chosen.nextInt(20);
                assertEquals(expected.nextClearBit(from) >= to, covered.hasAll(from, to), covered::toString);
            }
        }
    }

    @Test
    void rangesThatTouchAreOne() {
        assertEquals(CoveredBytes.NONE.with(4, 30), CoveredBytes.NONE.with(20, 30).with(4, 10).with(10, 20));
        assertFalse(CoveredBytes.NONE.with(4, 10).with(11, 20).hasAll(4, 20));
    }

    @Test
    void thereAreOnlySoMany() {
        CoveredBytes covered = CoveredBytes.NONE;
        for (long first = 0; first < 3_000; first += 3) {
            covered = covered.with(first, first + 1);
        }
        assertSame(covered, covered.with(9_000, 9_001));
        assertTrue(covered.with(0, 10_000).hasAll(0, 10_000));
    }
}
