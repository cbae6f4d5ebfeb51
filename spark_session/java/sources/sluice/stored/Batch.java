package sluice.stored;

/**
 * One record batch as an encapsulated Arrow message.
 *
 * @param offset where the message begins in its file, or in its part's bytes
 * @param length of the message, with its head
 * @param rows in the batch
 * @param bytes of these rows, as `BatchSize` counts them
 */
public record Batch(long offset, long length, long rows, long bytes) {

    /** Returns the same batch where its message begins `distance` bytes later. */
    public Batch shifted(long distance) {
        return new Batch(offset + distance, length, rows, bytes);
    }
}
