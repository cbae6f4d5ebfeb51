package sluice.scans;

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
 * It reads the optimized plan, not the executed one: while a query runs, Spark drops parts whose other side turned
 * out to be empty, though their files may have been read by then.
 */
public final class PlannedTables {

    /** Returns the names, one a line. */
    public String read(Object queryExecution) throws Exception {
        Set names = new TreeSet();
        collect(((QueryExecution) queryExecution).optimizedPlan(), names);
        return String.join("\n", names);
    }

    private static void collect(LogicalPlan plan, Set names) throws Exception {
        if (plan instanceof DataSourceV2ScanRelation && hasTasks(((DataSourceV2ScanRelation) plan).scan())) {
            names.add(((DataSourceV2ScanRelation) plan).relation().table().name());
        }
        collectAll(plan.children(), names);
        collectAll(plan.subqueries(), names);
    }

    /** False only for an Iceberg scan that has selected nothing. Its class is package-private. */
    private static boolean hasTasks(Scan scan) throws Exception {
        for (Class type = scan.getClass(); type != null; type = type.getSuperclass()) {
            Method[] methods = type.getDeclaredMethods();
            for (int i = 0; i < methods.length; i++) {
                if (methods[i].getName().equals("taskGroups") && methods[i].getParameterTypes().length == 0) {
                    methods[i].setAccessible(true);
                    return !((List) methods[i].invoke(scan, new Object[0])).isEmpty();
                }
            }
        }
        return true;
    }

    private static void collectAll(scala.collection.Iterable plans, Set names) throws Exception {
        scala.collection.Iterator each = plans.iterator();
        while (each.hasNext()) {
            collect((LogicalPlan) each.next(), names);
        }
    }
}
