package sluice.stored;

import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.List;
import org.apache.hadoop.fs.FSError;
import org.apache.hadoop.fs.Path;

/** Holds the bytes of a part while they are few, and writes them to a file of its own as soon as they are not. */
final class PartSink extends OutputStream {

    private static final int BUFFER_BYTES = 1 << 18;
    private static final List<String> NO_ROOM =
        List.of("No space left on device", "Disk quota exceeded", "File too large", "not enough space");

    private final Folder folder;
    private final String name;
    private final int inlineBytes;
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private OutputStream file;
    private long written;

    PartSink(Folder folder, String name, int inlineBytes) {
        this.folder = folder;
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
            failure = NO_ROOM.stream().anyMatch(message::contains)
                ? Part.Failure.NO_ROOM
                : Part.Failure.CANNOT_WRITE;
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
                file = new BufferedOutputStream(folder.created(temporary()), BUFFER_BYTES);
                held.writeTo(file);
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
            file.close();
            if (!folder.system().rename(temporary(), new Path(folder.path(), name))) {
                throw new IOException("It cannot be renamed.");
            }
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
        try (OutputStream open = file) {
            folder.system().delete(temporary(), false);
        } catch (IOException | FSError failure) {
            // The query's end removes the folder.
            return;
        }
    }

    private Path temporary() {
        return new Path(folder.path(), name + ".tmp");
    }
}
