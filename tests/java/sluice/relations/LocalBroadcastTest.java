package sluice.relations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import org.junit.jupiter.api.Test;

final class LocalBroadcastTest {

    @Test
    void aTaskGetsTheBroadcastItself() throws Exception {
        Object value = new Object();
        LocalBroadcast broadcast = LocalBroadcast.of(value);
        LocalBroadcast read = (LocalBroadcast) read(written(broadcast));
        assertSame(broadcast, read);
        assertSame(value, read.value());
        assertNotEquals(broadcast.id(), LocalBroadcast.of(value).id());
    }

    @Test
    void whatNobodyRefersToIsFreed() throws Exception {
        byte[] written = written(LocalBroadcast.of(new byte[1 << 20]));
        int before = LocalBroadcast.count();
        for (int times = 0; times < 50 && LocalBroadcast.count() >= before; times++) {
            System.gc();
            Thread.sleep(20);
        }
        assertEquals(true, LocalBroadcast.count() < before);
        assertThrows(InvalidObjectException.class, () -> read(written));
    }

    @Test
    void toDestroyItChangesNothingForOthers() {
        LocalBroadcast broadcast = LocalBroadcast.of("rows");
        broadcast.unpersist();
        assertEquals("rows", broadcast.value());
    }

    private static byte[] written(Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
            stream.writeObject(value);
        }
        return bytes.toByteArray();
    }

    private static Object read(byte[] bytes) throws Exception {
        try (ObjectInputStream stream = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return stream.readObject();
        }
    }
}
