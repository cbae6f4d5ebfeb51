package sluice.collections;

import java.util.LinkedHashMap;
import java.util.Map;

/** A map that forgets the entry whose last use is the oldest when it has more than `most`. It has no lock. */
public final class LruMap<K, V> extends LinkedHashMap<K, V> {

    private static final long serialVersionUID = 1;
    private static final int INITIAL_CAPACITY = 16;
    private static final float LOAD_FACTOR = 0.75f;

    private final int most;

    public LruMap(int most) {
        super(INITIAL_CAPACITY, LOAD_FACTOR, true);
        this.most = most;
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
        return size() > most;
    }
}
