package sluice.stored;

import java.io.IOException;

/** A part that is being written. Nobody sees it under its name before it is complete. */
interface PartFile {

    void write(byte[] bytes, int offset, int length) throws IOException;

    /** Makes the part what others may read. */
    void complete() throws IOException;

    /** Leaves nothing, if that is possible now. */
    void abandon() throws IOException;
}
