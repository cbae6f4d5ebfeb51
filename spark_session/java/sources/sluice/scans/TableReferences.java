package sluice.scans;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;

/** The references of an analyzed query to a table. */
public final class TableReferences {

    private TableReferences() {}

    /** Returns them in whatever way they name the table, also those in subqueries. */
    public static List<DataSourceV2Relation> of(LogicalPlan plan, String table) {
        List<DataSourceV2Relation> found = new ArrayList<>();
        collect(plan, table, found);
        return found;
    }

    private static void collect(LogicalPlan plan, String table, List<DataSourceV2Relation> into) {
        if (plan instanceof DataSourceV2Relation read && read.table().name().equalsIgnoreCase(table)) {
            into.add(read);
        }
        list(plan.children()).forEach(child -> collect(child, table, into));
        list(plan.subqueries()).forEach(subquery -> collect(subquery, table, into));
    }
}
