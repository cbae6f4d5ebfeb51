package sluice.stored;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.apache.hadoop.fs.FSError;

/** Holds the bytes of a part while they are few, and writes them to a file of its own as soon as they are not. */
final class PartSink extends OutputStream {

    private static final List<String> NO_ROOM =
        List.of("No space left on device", "Disk quota exceeded", "File too large", "not enough space");

    private final Place place;
    private final String name;
    private final int inlineBytes;
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private PartFile file;
    private long written;

    PartSink(Place place, String name, int inlineBytes) {
        this.place = place;
        this.name = name;
        this.inlineBytes = inlineBytes;
    }

    /** Why bytes could not be written. */
    static final class CannotStore extends RuntimeException {

        private static final long serialVersionUID = 1;

        final Part.Failure failure;

        CannotStore(Throwable cause) {
            super(cause.getMessage(), cause);
            String message = String.valueOf(cause.getMessage());
            if (NO_ROOM.stream().anyMatch(message::contains)) {
                failure = Part.Failure.NO_ROOM;
            } else {
                failure = cause instanceof StoreFailure store ? store.failure : Part.Failure.CANNOT_WRITE;
            }
        }
    }

    /** The number of bytes so far. */
    long position() {
        return written;
    }

    @Override
    public void write(int value) {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        written += length;
        if (file == null && written <= inlineBytes) {
            held.write(bytes, offset, length);
            return;
        }
        try {
            if (file == null) {
                file = place.create(name);
                file.write(held.toByteArray(), 0, held.size());
                held.reset();
            }
            file.write(bytes, offset, length);
        } catch (IOException | FSError failure) {
            throw new CannotStore(failure);
        }
    }

    /** Completes the part. */
    Part end(List<Batch> batches) {
        if (file == null) {
            return Part.inline(held.toByteArray(), batches);
        }
        try {
            file.complete();
        } catch (IOException | FSError failure) {
            throw new CannotStore(failure);
        }
        return Part.inFile(name, batches);
    }

    /** Leaves nothing. */
    void abandon() {
        if (file == null) {
            return;
        }
        try {
            file.abandon();
        } catch (IOException | FSError failure) {
            // The query's end removes what is left.
            return;
        }
    }
}
