package sluice.relations;

import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode;

/**
 * Rows in memory that more than one query reads.
 *
 * @param number the same for the same rows; no other rows of this JVM have it
 * @param bytes the memory that the rows take
 * @param cache what is made of them is kept there
 */
record KnownRows(long number, InternalRow[] rows, long bytes, RelationCache cache) {

    /** Returns the rows as a join reads them, broadcast. */
    Broadcast<Object> broadcast(BroadcastMode mode) {
        return cache.broadcast(this, mode);
    }

    /** Plans are printed with it. */
    @Override
    public String toString() {
        return "rows " + number;
    }
}
