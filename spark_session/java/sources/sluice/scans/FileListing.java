package sluice.scans;

import java.util.List;

/**
 * What a listing of a table's files has found. `state` is a name for these files as they are; one that `isYoung`
 * equals no other.
 */
record FileListing(long partitions, long files, long bytes, String state, boolean isYoung) {

    /** Returns the values as the JSON that spark_session/engine/session_catalog_tables.py reads has them. */
    List<Object> row() {
        return List.of(partitions, files, bytes, state, isYoung);
    }
}
