package sluice.sessions;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Set;
import org.apache.iceberg.Table;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;

/**
 * Lets scans of Iceberg tables name the columns of all partition specs of their table, for a moment.
 *
 * Iceberg names the partition columns of the files that a scan has planned, and Spark prunes by these alone. A filter
 * that leaves fewer files may leave fewer columns, and none if it leaves no file.
 */
public final class AllSpecs {

    private static final String SCAN = "org.apache.iceberg.spark.source.SparkPartitioningAwareScan";

    private final ArrayList scans = new ArrayList();
    private final ArrayList before = new ArrayList();
    private Field specs;

    /** Whether any scan below the plan got columns that its files do not have. Ends with `close`. */
    public boolean open(LogicalPlan plan) throws ReflectiveOperationException {
        if (plan instanceof DataSourceV2ScanRelation) {
            add(((DataSourceV2ScanRelation) plan).scan());
        }
        scala.collection.Iterator children = plan.children().iterator();
        while (children.hasNext()) {
            open((LogicalPlan) children.next());
        }
        return !scans.isEmpty();
    }

    /** Gives each scan what it had. */
    public void close() throws ReflectiveOperationException {
        for (int i = 0; i < scans.size(); i++) {
            specs.set(scans.get(i), before.get(i));
        }
    }

    private void add(Scan scan) throws ReflectiveOperationException {
        Class kind = scan.getClass();
        while (kind != null && !SCAN.equals(kind.getName())) {
            kind = kind.getSuperclass();
        }
        if (kind == null) {
            return;
        }
        Method planned = kind.getDeclaredMethod("specs", new Class[0]);
        planned.setAccessible(true);
        Set known = (Set) planned.invoke(scan, new Object[0]);
        Set all = new HashSet(tableOf(scan, kind).specs().values());
        if (known.size() < all.size() || known.isEmpty()) {
            specs = kind.getDeclaredField("specs");
            specs.setAccessible(true);
            before.add(specs.get(scan));
            scans.add(scan);
            specs.set(scan, all);
        }
    }

    private static Table tableOf(Scan scan, Class kind) throws ReflectiveOperationException {
        Method table = kind.getSuperclass().getDeclaredMethod("table", new Class[0]);
        table.setAccessible(true);
        return (Table) table.invoke(scan, new Object[0]);
    }
}
