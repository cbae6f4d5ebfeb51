package sluice.stored;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.UUID;
import org.apache.iceberg.inmemory.InMemoryFileIO;
import org.junit.jupiter.api.Test;

class ObjectPrefixTest {

    /** All instances of the file system share their files. */
    private static final String ADDRESS = "s3://bucket/results/" + UUID.randomUUID();

    private final InMemoryFileIO files = new InMemoryFileIO();
    private final ObjectPrefix prefix = new ObjectPrefix(files, ADDRESS);

    @Test
    void aPartIsThereWhenItIsComplete() throws IOException {
        PartSink sink = new PartSink(prefix, "a.part", 2);
        sink.write(new byte[] {1, 2, 3, 4, 5});
        assertFalse(files.fileExists(ADDRESS + "/a.part"));
        assertEquals("a.part", sink.end(List.of()).file());
        byte[] read = new byte[3];
        prefix.read("a.part", 2, read);
        assertArrayEquals(new byte[] {3, 4, 5}, read);
    }

    @Test
    void whatIsAbandonedLeavesNothing() {
        PartSink sink = new PartSink(prefix, "left.part", 0);
        sink.write(1);
        sink.abandon();
        assertFalse(files.fileExists(ADDRESS + "/left.part"));
    }

    @Test
    void partsAreDeletedByName() throws IOException {
        for (String name : List.of("c.part", "d.part")) {
            prefix.create(name).complete();
        }
        prefix.delete(List.of("c.part"));
        assertFalse(files.fileExists(ADDRESS + "/c.part"));
        assertTrue(files.fileExists(ADDRESS + "/d.part"));
    }

    @Test
    void aPartThatIsNotThereIsAFailureOfTheStore() {
        assertThrows(StoreFailure.class, () -> prefix.read("no.part", 0, new byte[1]));
    }
}
