package sluice.relations;

import java.util.Map;
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

    /** Returns the rows as a join reads them, broadcast, with the settings of the query's session. */
    Broadcast<Object> broadcast(BroadcastMode mode, Map<String, String> settings) {
        return cache.broadcast(this, mode, settings);
    }

    /** Returns the places of the rows in the order of a column, whose type has one. */
    SortedPlaces sortedBy(int column) {
        return cache.sortedBy(this, column);
    }

    /** Plans are printed with it. */
    @Override
    public String toString() {
        return "rows " + number;
    }
}
