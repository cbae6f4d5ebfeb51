package sluice.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import scala.PartialFunction;

final class PartialTest {

    private final PartialFunction<Integer, String> half = Partial.where(n -> n % 2 == 0, n -> "" + n / 2);

    @Test
    void itIsDefinedWhereTheConditionHolds() {
        assertTrue(half.isDefinedAt(4));
        assertFalse(half.isDefinedAt(5));
    }

    @Test
    void elsewhereAnotherFunctionIsApplied() {
        assertEquals("2", half.<Integer, String>applyOrElse(4, n -> "odd"));
        assertEquals("odd", half.<Integer, String>applyOrElse(5, n -> "odd"));
    }
}
