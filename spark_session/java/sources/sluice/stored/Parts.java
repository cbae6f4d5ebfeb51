package sluice.stored;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The parts of a result as they arrive, in any order; those that count are the first ones without a gap. */
final class Parts {

    private static final Part NOTHING = Part.inline(new byte[0], List.of());

    private final Part[] arrived;
    private final long mostRows;
    private final long mostBytes;
    private final List<String> dropped = new ArrayList<>();
    private int complete;
    private long rows;
    private long bytes;
    private Part.Failure failure;

    Parts(int count, long mostRows, long mostBytes) {
        arrived = new Part[count];
        this.mostRows = mostRows;
        this.mostBytes = mostBytes;
    }

    /** Takes a part; returns whether those that are missing are not needed. */
    synchronized boolean take(int index, Part part) {
        if (part.failure() != null && failure == null) {
            failure = part.failure();
        }
        arrived[index] = part;
        drop(surplus());
        while (!hasEnough() && complete < arrived.length && arrived[complete] != null) {
            rows += arrived[complete].rows();
            bytes += arrived[complete].bytes();
            complete++;
        }
        return isCut();
    }

    /** Whether parts that are missing are not needed. */
    synchronized boolean isCut() {
        return failure != null || hasEnough();
    }

    /** Whether all parts are there that are needed. */
    synchronized boolean isDecided() {
        return isCut() || complete == arrived.length;
    }

    /** Why the result cannot be kept; null if it can. */
    synchronized Part.Failure failure() {
        // A part that nobody needs may fail as it likes.
        return hasEnough() ? null : failure;
    }

    /** Returns the parts that have the result's rows. */
    synchronized List<Part> first() {
        return new ArrayList<>(Arrays.asList(arrived).subList(0, complete));
    }

    /** Returns the files of parts that turned out not to be needed, each once. */
    synchronized List<String> takeDropped() {
        List<String> files = new ArrayList<>(dropped);
        dropped.clear();
        return files;
    }

    /** Returns from where on parts are not needed, because those before it that have arrived are enough. */
    private int surplus() {
        long rowsSoFar = rows;
        long bytesSoFar = bytes;
        int next = complete;
        while (next < arrived.length && !isEnough(rowsSoFar, bytesSoFar)) {
            Part part = arrived[next++];
            rowsSoFar += part == null ? 0 : part.rows();
            bytesSoFar += part == null ? 0 : part.bytes();
        }
        return next;
    }

    private void drop(int from) {
        for (int index = from; index < arrived.length; index++) {
            if (arrived[index] != null && arrived[index] != NOTHING) {
                if (arrived[index].file() != null) {
                    dropped.add(arrived[index].file());
                }
                arrived[index] = NOTHING;
            }
        }
    }

    private boolean hasEnough() {
        // One row is kept even if it is too large: whether others follow is then not known yet.
        return isEnough(rows, bytes);
    }

    private boolean isEnough(long someRows, long someBytes) {
        return someRows > mostRows || someBytes > mostBytes && someRows > 1;
    }
}
