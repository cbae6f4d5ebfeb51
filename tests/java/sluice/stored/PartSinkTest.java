package sluice.stored;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PartSinkTest {

    @TempDir
    Path directory;

    private Folder folder() throws IOException {
        return Folder.at(directory.toUri().toString());
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }

    @Test
    void fewBytesStayInMemory() throws IOException {
        PartSink sink = new PartSink(folder(), "a.part", 4);
        sink.write(new byte[] {1, 2, 3, 4});
        Part part = sink.end(List.of());
        assertArrayEquals(new byte[] {1, 2, 3, 4}, part.inline());
        assertNull(part.file());
        assertEquals(List.of(), names());
    }

    @Test
    void oneByteMoreMakesAFileWithAllOfThem() throws IOException {
        PartSink sink = new PartSink(folder(), "a.part", 4);
        sink.write(new byte[] {1, 2, 3});
        sink.write(new byte[] {4, 5});
        assertEquals(List.of("a.part.tmp"), names());
        assertEquals(5, sink.position());
        Part part = sink.end(List.of());
        assertEquals("a.part", part.file());
        assertEquals(0, part.inline().length);
        assertEquals(List.of("a.part"), names());
        assertArrayEquals(new byte[] {1, 2, 3, 4, 5}, Files.readAllBytes(directory.resolve("a.part")));
    }

    @Test
    void whatIsAbandonedLeavesNothing() throws IOException {
        PartSink sink = new PartSink(folder(), "a.part", 0);
        sink.write(1);
        sink.abandon();
        assertEquals(List.of(), names());
        new PartSink(folder(), "b.part", 1).abandon();
    }

    @Test
    void aFolderThatIsGoneDoesNotComeBack() throws IOException {
        Path gone = directory.resolve("gone");
        PartSink sink = new PartSink(Folder.at(gone.toUri().toString()), "a.part", 0);
        PartSink.CannotStore failure = assertThrows(PartSink.CannotStore.class, () -> sink.write(1));
        assertEquals(Part.Failure.CANNOT_WRITE, failure.failure);
        assertFalse(Files.exists(gone));
    }

    @Test
    void aFolderThatGoesWhileItIsWrittenEndsThePart() throws IOException {
        Path gone = Files.createDirectory(directory.resolve("gone"));
        PartSink sink = new PartSink(Folder.at(gone.toUri().toString()), "a.part", 0);
        sink.write(1);
        Files.delete(gone.resolve("a.part.tmp"));
        Files.delete(gone);
        assertThrows(PartSink.CannotStore.class, () -> sink.end(List.of()));
        assertFalse(Files.exists(gone));
    }

    @Test
    void aFullDiskIsToldFromAnotherFailure() {
        assertEquals(Part.Failure.NO_ROOM, new PartSink.CannotStore(new IOException("No space left on device")).failure);
        assertEquals(Part.Failure.CANNOT_WRITE, new PartSink.CannotStore(new IOException((String) null)).failure);
    }
}
