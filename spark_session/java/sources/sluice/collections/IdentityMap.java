package sluice.collections;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A map whose keys are equal only if they are the same object. It does not keep its keys in memory: an entry is gone
 * when its key is. Several threads may use it.
 */
public final class IdentityMap<K, V> {

    private final Map<Key<K>, V> entries = new ConcurrentHashMap<>();
    private final ReferenceQueue<K> gone = new ReferenceQueue<>();

    /** Sets the value of a key. A value that refers to its key keeps the key in memory. */
    public void put(K key, V value) {
        removeGone();
        entries.put(new Key<>(key, gone), value);
    }

    /** Returns the value of a key, or null. */
    public V get(K key) {
        return entries.get(new Key<>(key, null));
    }

    int size() {
        removeGone();
        return entries.size();
    }

    private void removeGone() {
        for (Reference<? extends K> key = gone.poll(); key != null; key = gone.poll()) {
            entries.remove(key);
        }
    }

    private static final class Key<K> extends WeakReference<K> {

        private final int hash;

        Key(K key, ReferenceQueue<K> queue) {
            super(key, queue);
            hash = System.identityHashCode(key);
        }

        @Override
        public int hashCode() {
            return hash;
        }

        @Override
        public boolean equals(Object other) {
            if (this == other) {
                return true;
            }
            K key = get();
            return key != null && other instanceof Key<?> that && key == that.get();
        }
    }
}
