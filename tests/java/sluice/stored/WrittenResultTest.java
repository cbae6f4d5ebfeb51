package sluice.stored;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WrittenResultTest {

    @TempDir
    Path directory;

    private List<Part> parts;

    @BeforeEach
    void write() throws IOException {
        Files.write(directory.resolve("a"), new byte[] {1, 2, 3, 4, 5});
        parts = List.of(
            Part.inFile("a", List.of(new Batch(0, 2, 10, 100), new Batch(2, 3, 10, 100))),
            Part.inline(new byte[0], List.of()),
            Part.inline(new byte[] {6, 7, 8}, List.of(new Batch(0, 1, 10, 100), new Batch(1, 2, 10, 100))));
    }

    private WrittenResult cut(long rows, long bytes) throws IOException {
        return WrittenResult.of(parts, rows, bytes, Folder.at(directory.toUri().toString()));
    }

    @Test
    void allPartsAreThereIfNothingIsCut() throws IOException {
        WrittenResult all = cut(40, 400);
        assertEquals(
            "{\"parts\":[{\"file\":\"a\",\"batches\":[[0,2,10,100],[2,3,10,100]]},"
                + "{\"file\":null,\"batches\":[[0,1,10,100],[1,2,10,100]]}],\"rows\":40}",
            all.description());
        assertArrayEquals(new byte[] {6, 7, 8}, all.inline());
    }

    @Test
    void theBatchThatCrossesALimitIsApart() throws IOException {
        WrittenResult byRows = cut(19, 400);
        assertEquals(
            "{\"parts\":[{\"file\":\"a\",\"batches\":[[0,2,10,100]]}],\"rows\":40,\"edge\":[0,3,10,100]}",
            byRows.description());
        assertArrayEquals(new byte[] {3, 4, 5}, byRows.inline());
        WrittenResult byBytes = cut(100, 399);
        assertArrayEquals(new byte[] {6, 7, 8}, byBytes.inline());
    }

    @Test
    void theFirstBatchMayBeTheOneThatIsCut() throws IOException {
        assertEquals("{\"parts\":[],\"rows\":40,\"edge\":[0,2,10,100]}", cut(1, 1).description());
    }

    @Test
    void aFailureHasItsName() throws IOException {
        assertEquals("{\"failure\":\"NO_ROOM\"}", WrittenResult.failed(Part.Failure.NO_ROOM).description());
    }
}
