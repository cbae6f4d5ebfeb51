package sluice.results;

import static sluice.collections.Lists.list;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** The sources of the columns of one plan, by the columns' ids. */
final class ColumnSources {

    /** The most steps and sources for one plan, so that no text makes this take long. */
    private static final int STEPS = 200_000;

    private final Map<Long, Set<SourceColumn>> sources = new HashMap<>();
    private int steps = 0;

    /** The plan is too large to be read. */
    static final class TooLong extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    /** Counts one step; throws TooLong if there were too many. */
    void step() {
        if (++steps > STEPS) {
            throw new TooLong();
        }
    }

    /** Whether the column's sources were recorded, even if it has none. */
    boolean has(Attribute column) {
        return sources.containsKey(column.exprId().id());
    }

    /** Returns the column's sources; none, if they were not recorded. */
    Set<SourceColumn> of(Attribute column) {
        return sources.getOrDefault(column.exprId().id(), Set.of());
    }

    /** Records the sources of a column, if there are any. */
    void put(Attribute column, Set<SourceColumn> found) {
        if (!found.isEmpty()) {
            sources.put(column.exprId().id(), found);
        }
    }

    /** Records the sources of a column by its id, even if there are none. */
    void define(long id, Set<SourceColumn> found) {
        sources.put(id, found);
    }

    /** Records that the relation's columns are those of a table. */
    void read(String table, LogicalPlan relation) {
        for (Attribute column : list(relation.output())) {
            Set<SourceColumn> own = new LinkedHashSet<>();
            add(own, new SourceColumn(table, column.name(), SourceKind.IDENTITY, false));
            put(column, own);
        }
    }

    /** Records sources for columns that have none yet: each has those of the other in its place. */
    void pass(List<Attribute> columns, List<Attribute> below) {
        for (int i = 0; i < columns.size() && columns.size() == below.size(); i++) {
            if (!has(columns.get(i))) {
                put(columns.get(i), of(below.get(i)));
            }
        }
    }

    /** Adds a source to others, as one step. */
    void add(Set<SourceColumn> others, SourceColumn source) {
        step();
        others.add(source);
    }
}
