package sluice.results;

import java.util.List;

/** A column of a table, and how it takes part in another. A masked one does not show its values there. */
record SourceColumn(String table, String column, SourceKind kind, boolean isMasked) {

    /** Returns the values as the JSON of the lineage has them. */
    List<Object> row() {
        return List.of(table, column, kind.name(), isMasked);
    }
}
