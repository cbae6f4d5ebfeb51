package sluice.relations;

import static sluice.collections.Lists.iterable;

import java.lang.ref.Reference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.util.KnownSizeEstimation;
import scala.collection.immutable.ArraySeq;
import scala.collection.immutable.ArraySeq$;
import scala.collection.immutable.Seq;
import sluice.collections.BoundedEntries;
import sluice.collections.IdentityMap;

/**
 * What queries make of small tables in memory: filtered or projected rows, and the hashed rows that joins read.
 *
 * <p>The key of an entry has everything that its value depends on: the rows, each by its place in memory, what is done
 * with them, and the session's settings. Values are never freed while a query reads them: the garbage collector does
 * it. All of them can be made again. Several threads may use it.
 */
public final class RelationCache {

    /** The memory of a row besides its bytes. */
    private static final long ROW_BYTES = 64;
    /** An operator that makes the rows that it gets. The entry does not keep them in memory. */
    private static final Object SAME = new Object();

    private final AtomicLong numbers = new AtomicLong();
    private final IdentityMap<InternalRow, Known> known = new IdentityMap<>();
    private final BoundedEntries entries = new BoundedEntries();
    private volatile Map<String, String> lastSettings = Map.of();
    private volatile boolean isOpen;

    /** The array is that of a relation or of an entry: if neither is there any more, the rows are not known. */
    private record Known(long number, Reference<InternalRow[]> rows, long bytes) {}

    private record Derived(long from, List<Object> operator, Map<String, String> settings) {}

    private record Sorted(long rows, int column) {}

    private record Hashed(long rows, BroadcastMode mode, Map<String, String> settings) {}

    /**
     * Lets the sessions that are opened from this one use the cache. With 0 bytes, none of them does.
     *
     * <p>Neither do they on a cluster: its executors do not share the driver's memory.
     */
    public void open(SparkSession root, long bytesAtMost) {
        if (bytesAtMost <= 0 || !root.sparkContext().isLocal()) {
            return;
        }
        keepAtMost(bytesAtMost);
        root.extensions().injectOptimizerRule(session -> new FoldRelations(this));
        root.extensions().injectQueryPostPlannerStrategyRule(session -> new CachedBroadcasts(this));
        root.extensions().injectColumnar(session -> new CachedBroadcastsAfterPlanning(this));
    }

    void keepAtMost(long bytesAtMost) {
        entries.keepAtMost(bytesAtMost);
        isOpen = true;
    }

    /** Whether sessions use the cache. */
    public boolean isOpen() {
        return isOpen;
    }

    /** Returns entries, bytes, hits, misses and evictions, with blanks in between. */
    public String use() {
        return entries.use();
    }

    /** Forgets all entries, and returns how many there were. A query that uses one now keeps it. */
    public int clear() {
        return entries.clear();
    }

    /** Makes rows known for as long as the result, or a plan with it, is in memory. No other rows may have the first. */
    public Seq<InternalRow> add(List<InternalRow> rows) {
        InternalRow[] all = rows.toArray(InternalRow[]::new);
        if (isOpen && all.length > 0) {
            known.put(all[0], new Known(numbers.incrementAndGet(), new WeakReference<>(all), sizeOf(all)));
        }
        return sequence(all);
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
        if (rows instanceof ArraySeq.ofRef<?> wrapped && wrapped.unsafeArray() == all) {
            return true;
        }
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
    Seq<InternalRow> derived(
            KnownRows from, List<Object> operator, Map<String, String> settings, Supplier<LocalRelation> make) {
        Object key = new Derived(from.number(), operator, shared(settings));
        Object found = entries.get(key, () -> {
            LocalRelation made = make.get();
            if (made == null) {
                return null;
            }
            long keyBytes = RowKeys.sizeOf(operator);
            if (isSame(from.rows(), made.data())) {
                return new BoundedEntries.Entry(SAME, keyBytes);
            }
            List<InternalRow> rows = copied(made);
            return new BoundedEntries.Entry(add(rows), keyBytes + sizeOf(rows.toArray(InternalRow[]::new)));
        });
        return found == SAME ? sequence(from.rows()) : (Seq<InternalRow>) found;
    }

    /** Returns the places of rows in the order of a column. Orders them if need be. */
    SortedPlaces sortedBy(KnownRows rows, int column) {
        return (SortedPlaces) entries.get(new Sorted(rows.number(), column), () -> {
            SortedPlaces sorted = SortedPlaces.of(rows.rows(), column);
            return new BoundedEntries.Entry(sorted, sorted.bytes());
        });
    }

    /** Returns the rows as a join reads them, broadcast. Makes the broadcast if need be. */
    @SuppressWarnings("unchecked")
    Broadcast<Object> broadcast(KnownRows rows, BroadcastMode mode, Map<String, String> settings) {
        return (Broadcast<Object>) entries.get(new Hashed(rows.number(), mode, shared(settings)), () -> {
            Object hashed = mode.transform(rows.rows());
            long size = hashed instanceof KnownSizeEstimation sized ? sized.estimatedSize() : rows.bytes();
            return new BoundedEntries.Entry(LocalBroadcast.of(hashed), size);
        });
    }

    /** Returns equal settings: most sessions have the same ones, so most keys share them. */
    private Map<String, String> shared(Map<String, String> settings) {
        Map<String, String> last = lastSettings;
        if (last.equals(settings)) {
            return last;
        }
        lastSettings = settings;
        return settings;
    }

    /** Returns rows that are equal to no others' by their places in memory. */
    private static List<InternalRow> copied(LocalRelation relation) {
        UnsafeProjection projection = UnsafeProjection$.MODULE$.create(relation.schema());
        List<InternalRow> rows = new ArrayList<>();
        for (InternalRow row : iterable(relation.data())) {
            rows.add(projection.apply(row).copy());
        }
        return rows;
    }

    @SuppressWarnings("unchecked")
    private static Seq<InternalRow> sequence(InternalRow[] rows) {
        return (Seq<InternalRow>) (Seq<?>) ArraySeq$.MODULE$.unsafeWrapArray(rows);
    }

    private static long sizeOf(InternalRow[] rows) {
        long bytes = 0;
        for (InternalRow row : rows) {
            bytes += ((UnsafeRow) row).getSizeInBytes() + ROW_BYTES;
        }
        return bytes;
    }
}
