package sluice.stored;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StoreFailureTest {

    @ParameterizedTest
    @CsvSource({"401,STORE_REFUSES", "403,STORE_REFUSES", "404,STORE_REFUSES", "500,STORE_DOWN", "503,STORE_DOWN"})
    void theStatusSaysWhetherItAnswers(int status, Part.Failure expected) {
        String words = "Not so (Service: S3, Status Code: %d, Request ID: x)".formatted(status);
        StoreFailure failure = new StoreFailure(new IllegalStateException(new RuntimeException(words)));
        assertEquals(expected, failure.failure);
        assertEquals(expected, new PartSink.CannotStore(failure).failure);
    }

    @Test
    void noAnswerMeansThatItIsDown() {
        assertEquals(Part.Failure.STORE_DOWN, new StoreFailure(new IOException((String) null)).failure);
    }

    @Test
    void aFullDiskOfTheExecutorIsItsOwnFailure() {
        StoreFailure failure = new StoreFailure(new IOException("No space left on device"));
        assertEquals(Part.Failure.NO_ROOM, new PartSink.CannotStore(failure).failure);
    }
}
