package sluice.stored;

import java.util.ArrayList;
import java.util.List;

/**
 * What one task has made of its rows.
 *
 * @param failure why nothing could be written; null if it could
 * @param file the name of the file that has the batches; null if they are in `inline`
 * @param inline the batches' messages, one after the other
 * @param batches in the order of the rows
 */
public record Part(Failure failure, String file, byte[] inline, List<Batch> batches) {

    private static final int FIELDS = 4;
    private static final byte[] NOTHING = {};

    /** Why a part could not be written. */
    public enum Failure {
        NO_ROOM,
        CANNOT_WRITE,
        STORE_DOWN,
        STORE_REFUSES
    }

    static Part failed(Failure failure) {
        return new Part(failure, null, NOTHING, List.of());
    }

    static Part inline(byte[] messages, List<Batch> batches) {
        return new Part(null, null, messages, batches);
    }

    static Part inFile(String name, List<Batch> batches) {
        return new Part(null, name, NOTHING, batches);
    }

    /** Returns the number of rows. */
    public long rows() {
        return batches.stream().mapToLong(Batch::rows).sum();
    }

    /** Returns the bytes of the rows. */
    public long bytes() {
        return batches.stream().mapToLong(Batch::bytes).sum();
    }

    /** Returns the part as values of Java's own types, which any class loader knows: it travels to the driver. */
    Object[] packed() {
        long[] numbers = new long[batches.size() * FIELDS];
        int next = 0;
        for (Batch batch : batches) {
            numbers[next++] = batch.offset();
            numbers[next++] = batch.length();
            numbers[next++] = batch.rows();
            numbers[next++] = batch.bytes();
        }
        return new Object[] {failure == null ? null : failure.name(), file, inline, numbers};
    }

    /** Returns the part that was packed. */
    static Part of(Object[] packed) {
        long[] numbers = (long[]) packed[3];
        List<Batch> batches = new ArrayList<>(numbers.length / FIELDS);
        for (int at = 0; at < numbers.length; at += FIELDS) {
            batches.add(new Batch(numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]));
        }
        Failure failure = packed[0] == null ? null : Failure.valueOf((String) packed[0]);
        return new Part(failure, (String) packed[1], (byte[]) packed[2], batches);
    }
}
