package sluice.relations;

import static sluice.collections.Lists.iterable;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.util.KnownSizeEstimation;
import scala.collection.immutable.ArraySeq$;
import scala.collection.immutable.Seq;
import scala.reflect.ClassTag$;
import sluice.collections.IdentityMap;

/**
 * What queries make of small tables in memory: filtered or projected rows, and the hashed rows that joins read.
 *
 * <p>All of it can be made again. If it becomes too large, the entry whose last use is the oldest goes first. Several
 * threads may use it.
 */
public final class RelationCache {

    /** The memory of a row besides its bytes. */
    private static final long ROW_BYTES = 64;
    private static final int INITIAL_CAPACITY = 64;
    private static final float LOAD_FACTOR = 0.75f;

    private final AtomicLong numbers = new AtomicLong();
    private final IdentityMap<InternalRow, Known> known = new IdentityMap<>();
    private final Map<Object, Entry> entries = new LinkedHashMap<>(INITIAL_CAPACITY, LOAD_FACTOR, true);
    private volatile SparkContext context;
    private volatile long mostBytes;
    private long bytes;

    /** The array is that of a relation or of an entry: if neither is there any more, the rows are not known. */
    private record Known(long number, Reference<InternalRow[]> rows, long bytes) {}

    private record Entry(Object value, long bytes) {}

    private record Derived(long from, List<Object> operator) {}

    private record Hashed(long rows, BroadcastMode mode) {}

    /** Lets the sessions that are opened from this one use the cache. With 0 bytes, none of them does. */
    public void open(SparkSession root, long bytesAtMost) {
        if (bytesAtMost <= 0) {
            return;
        }
        context = root.sparkContext();
        keepAtMost(bytesAtMost);
        root.extensions().injectOptimizerRule(session -> new FoldRelations(this));
        root.extensions().injectQueryPostPlannerStrategyRule(session -> new CachedBroadcasts(this));
    }

    void keepAtMost(long bytesAtMost) {
        mostBytes = bytesAtMost;
    }

    /** Whether sessions use the cache. */
    public boolean isOpen() {
        return mostBytes > 0;
    }

    /** Returns the bytes that are in use and, after a blank, the number of entries. */
    public synchronized String use() {
        return bytes + " " + entries.size();
    }

    /** Makes rows known for as long as the result, or a plan with it, is in memory. No other rows may have the first. */
    public Seq<InternalRow> add(List<InternalRow> rows) {
        InternalRow[] all = rows.toArray(InternalRow[]::new);
        if (isOpen() && all.length > 0) {
            known.put(all[0], new Known(numbers.incrementAndGet(), new WeakReference<>(all), sizeOf(all)));
        }
        @SuppressWarnings("unchecked")
        Seq<InternalRow> found = (Seq<InternalRow>) (Seq<?>) ArraySeq$.MODULE$.unsafeWrapArray(all);
        return found;
    }

    /**
     * Returns what is known of rows; null if they are not known.
     *
     * <p>Spark copies the sequence of a relation whenever it changes a column of it. So the rows themselves are
     * compared, each by its place in memory.
     */
    KnownRows of(Seq<InternalRow> rows) {
        Iterator<InternalRow> first = iterable(rows).iterator();
        Known found = first.hasNext() ? known.get(first.next()) : null;
        InternalRow[] all = found == null ? null : found.rows().get();
        return all != null && isSame(all, rows) ? new KnownRows(found.number(), all, found.bytes(), this) : null;
    }

    private static boolean isSame(InternalRow[] all, Seq<InternalRow> rows) {
        int at = 0;
        for (InternalRow row : iterable(rows)) {
            if (at == all.length || all[at++] != row) {
                return false;
            }
        }
        return at == all.length;
    }

    /**
     * Returns the rows that an operator makes of known rows, and makes them if need be. Equal operators make the same.
     * Null: it cannot make them now.
     */
    @SuppressWarnings("unchecked")
    Seq<InternalRow> derived(KnownRows from, List<Object> operator, Supplier<List<InternalRow>> make) {
        return (Seq<InternalRow>) cached(new Derived(from.number(), List.copyOf(operator)), () -> {
            List<InternalRow> made = make.get();
            return made == null ? null : new Entry(add(made), sizeOf(made.toArray(InternalRow[]::new)));
        });
    }

    /** Returns the rows as a join reads them, broadcast. Makes the broadcast if need be. */
    @SuppressWarnings("unchecked")
    Broadcast<Object> broadcast(KnownRows rows, BroadcastMode mode) {
        return (Broadcast<Object>) cached(new Hashed(rows.number(), mode), () -> {
            Object hashed = mode.transform(rows.rows());
            long size = hashed instanceof KnownSizeEstimation sized ? sized.estimatedSize() : rows.bytes();
            return new Entry(context.broadcastInternal(hashed, true, ClassTag$.MODULE$.Object()), size);
        });
    }

    /** Two threads may make the same value, as neither waits for the other. Both get the one that was first. */
    private Object cached(Object key, Supplier<Entry> make) {
        synchronized (this) {
            Entry found = entries.get(key);
            if (found != null) {
                return found.value();
            }
        }
        Entry made = make.get();
        return made == null ? null : put(key, made);
    }

    private synchronized Object put(Object key, Entry made) {
        Entry before = entries.putIfAbsent(key, made);
        if (before != null) {
            return before.value();
        }
        bytes += made.bytes();
        Iterator<Entry> oldest = entries.values().iterator();
        while (bytes > mostBytes && oldest.hasNext()) {
            bytes -= oldest.next().bytes();
            oldest.remove();
        }
        return made.value();
    }

    private static long sizeOf(InternalRow[] rows) {
        long bytes = 0;
        for (InternalRow row : rows) {
            bytes += ((UnsafeRow) row).getSizeInBytes() + ROW_BYTES;
        }
        return bytes;
    }
}
