package sluice.engine;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.apache.iceberg.arrow.ArrowAllocation;
import org.apache.iceberg.shaded.org.apache.arrow.memory.BufferAllocator;

/**
 * Frees memory that Iceberg's Parquet reader leaks: each file that it reads opens an allocator under one root, and
 * none is ever closed. A few hundred bytes a file fill the driver's heap within days.
 *
 * <p>Source: https://github.com/apache/iceberg/issues/13937, open in Iceberg 1.12.
 */
public final class ReaderMemory {
    private Set<BufferAllocator> before = identitySet();

    /** Closes the allocators that existed at the previous call and hold no memory now; returns how many. */
    public int release() {
        Set<BufferAllocator> kept = identitySet();
        int closed = 0;
        for (BufferAllocator allocator : ArrowAllocation.rootAllocator().getChildAllocators()) {
            // One that is in use between two batches keeps working; it is only no longer listed.
            if (before.contains(allocator) && allocator.getAllocatedMemory() == 0) {
                allocator.close();
                closed++;
            } else {
                kept.add(allocator);
            }
        }
        before = kept;
        return closed;
    }

    private static Set<BufferAllocator> identitySet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }
}
