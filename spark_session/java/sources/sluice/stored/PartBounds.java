package sluice.stored;

import java.io.Serializable;

/**
 * How much one task may write. It ends after more rows, or more bytes, than the whole result may have.
 *
 * @param rows of the whole result
 * @param bytes of the whole result, counted as `BatchSize` does
 * @param batchRows rows of a batch at most
 * @param batchBytes bytes of a batch, about
 * @param inlineBytes up to this size, a part is sent to the driver and not written
 */
public record PartBounds(long rows, long bytes, int batchRows, long batchBytes, int inlineBytes)
        implements Serializable {

    /** Returns bounds with which all parts together send no more than `bytes` to the driver. */
    public PartBounds sharedBy(int parts, long bytes) {
        long share = bytes / Math.max(1, parts);
        return new PartBounds(rows, this.bytes, batchRows, batchBytes, (int) Math.min(inlineBytes, share));
    }
}
