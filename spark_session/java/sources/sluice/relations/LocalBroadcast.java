package sluice.relations;

import java.io.InvalidObjectException;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.broadcast.Broadcast;
import scala.reflect.ClassTag$;

/**
 * A broadcast whose value stays where it is. It is for local mode, where tasks run in the driver's JVM.
 *
 * <p>Spark's own broadcast is a block, with a serialized copy beside it. If memory is short, Spark drops the block and
 * closes its value, even while tasks that began earlier read it. That happens the sooner, the longer a broadcast lives.
 * This one is freed by the garbage collector, so never while a query or a task refers to it. The class is public, as
 * Spark's generated code names it.
 */
public final class LocalBroadcast extends Broadcast<Object> {

    private static final long serialVersionUID = 1;

    private static final AtomicLong NUMBERS = new AtomicLong();
    private static final Map<Long, Opened> OPENED = new ConcurrentHashMap<>();
    private static final ReferenceQueue<LocalBroadcast> GONE = new ReferenceQueue<>();

    private final transient Object value;

    private LocalBroadcast(long number, Object value) {
        super(number, ClassTag$.MODULE$.Object());
        this.value = value;
    }

    /** Returns a broadcast of the value. */
    static LocalBroadcast of(Object value) {
        removeGone();
        // Spark's own numbers begin with 0.
        LocalBroadcast made = new LocalBroadcast(NUMBERS.decrementAndGet(), value);
        OPENED.put(made.id(), new Opened(made));
        return made;
    }

    /** Returns how many are in memory. */
    static int count() {
        removeGone();
        return OPENED.size();
    }

    @Override
    public Object getValue() {
        return value;
    }

    @Override
    public void doUnpersist(boolean isBlocking) {
        // There are no copies elsewhere.
    }

    @Override
    public void doDestroy(boolean isBlocking) {
        // The garbage collector does it, when nobody reads it any more.
    }

    /** Tasks get the broadcast itself. The job that they belong to keeps it in memory. */
    private Object readResolve() throws InvalidObjectException {
        Opened opened = OPENED.get(id());
        LocalBroadcast found = opened == null ? null : opened.get();
        if (found == null) {
            throw new InvalidObjectException("the broadcast " + id() + " is not in the memory of this JVM");
        }
        return found;
    }

    private static void removeGone() {
        for (Reference<? extends LocalBroadcast> gone = GONE.poll(); gone != null; gone = GONE.poll()) {
            OPENED.remove(((Opened) gone).number);
        }
    }

    private static final class Opened extends WeakReference<LocalBroadcast> {

        private final long number;

        Opened(LocalBroadcast broadcast) {
            super(broadcast, GONE);
            number = broadcast.id();
        }
    }
}
