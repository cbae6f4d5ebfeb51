package sluice.scans;

import static sluice.collections.Lists.list;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;

/**
 * Finds the tables of which a query's plan leaves files to read, including subqueries.
 *
 * <p>It reads the optimized plan, not the executed one: while a query runs, Spark drops parts whose other side turned
 * out to be empty, though their files may have been read by then.
 */
public final class PlannedTables {

    /** Returns the names, one a line. */
    public String read(QueryExecution execution) throws ReflectiveOperationException {
        Set<String> names = new TreeSet<>();
        collect(execution.optimizedPlan(), names);
        return String.join("\n", names);
    }

    private static void collect(LogicalPlan plan, Set<String> names) throws ReflectiveOperationException {
        if (plan instanceof DataSourceV2ScanRelation found && hasTasks(found.scan())) {
            names.add(found.relation().table().name());
        }
        for (LogicalPlan child : list(plan.children())) {
            collect(child, names);
        }
        for (LogicalPlan subquery : list(plan.subqueries())) {
            collect(subquery, names);
        }
    }

    /** False only for an Iceberg scan that has selected nothing. Its class is package-private. */
    private static boolean hasTasks(Scan scan) throws ReflectiveOperationException {
        Method taskGroups = PackagePrivate.method(scan.getClass(), "taskGroups");
        return taskGroups == null || !((List<?>) taskGroups.invoke(scan)).isEmpty();
    }
}
