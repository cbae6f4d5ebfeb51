package sluice.scans;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

final class PackagePrivateTest {

    private static class Parent {
        private final String name = "parent";

        @SuppressWarnings("unused")
        private String greeting() {
            return "hello from " + name;
        }
    }

    private static final class Child extends Parent {}

    @Test
    void membersOfClassesAboveAreReached() throws Exception {
        assertEquals("hello from parent", PackagePrivate.call(new Child(), "greeting"));
        assertEquals("parent", PackagePrivate.field(new Child(), "name"));
    }

    @Test
    void aMissingFieldIsNullAndAMissingMethodFails() throws Exception {
        assertNull(PackagePrivate.field(new Child(), "other"));
        assertNull(PackagePrivate.method(Child.class, "other"));
        assertThrows(NoSuchMethodException.class, () -> PackagePrivate.call(new Child(), "other"));
    }
}
