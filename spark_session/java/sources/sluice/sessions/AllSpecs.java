package sluice.sessions;

import static sluice.collections.Lists.list;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Table;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;

/**
 * Lets scans of Iceberg tables name the columns of all partition specs of their table, until it is closed.
 *
 * <p>Iceberg names the partition columns of the files that a scan has planned, and Spark prunes by these alone. A
 * filter that leaves fewer files may leave fewer columns, and none if it leaves no file.
 */
final class AllSpecs implements AutoCloseable {

    private static final String SCAN = "org.apache.iceberg.spark.source.SparkPartitioningAwareScan";

    private final List<Opened> scans = new ArrayList<>();
    private final Set<Scan> withoutFiles = Collections.newSetFromMap(new IdentityHashMap<>());

    /** A scan, and what its package-private field had before. */
    private record Opened(Scan scan, Field specs, Object before) {}

    /** Whether any scan below the plan got columns that its files do not have. */
    boolean open(LogicalPlan plan) throws ReflectiveOperationException {
        if (plan instanceof DataSourceV2ScanRelation relation) {
            add(relation.scan());
        }
        for (LogicalPlan child : list(plan.children())) {
            open(child);
        }
        return !scans.isEmpty();
    }

    /** Whether the scan reads no file, so that no filter can leave fewer. */
    boolean hasNoFiles(LogicalPlan scan) {
        return scan instanceof DataSourceV2ScanRelation relation && withoutFiles.contains(relation.scan());
    }

    /** Gives each scan what it had. */
    @Override
    public void close() throws ReflectiveOperationException {
        for (Opened opened : scans) {
            opened.specs.set(opened.scan, opened.before);
        }
    }

    private void add(Scan scan) throws ReflectiveOperationException {
        Class<?> kind = scan.getClass();
        while (kind != null && !SCAN.equals(kind.getName())) {
            kind = kind.getSuperclass();
        }
        if (kind == null) {
            return;
        }
        Set<?> known = (Set<?>) call(scan, kind, "specs");
        Table table = (Table) call(scan, kind.getSuperclass(), "table");
        Set<PartitionSpec> all = new HashSet<>(table.specs().values());
        if (known.isEmpty()) {
            withoutFiles.add(scan);
        }
        if (known.size() < all.size() || known.isEmpty()) {
            Field specs = kind.getDeclaredField("specs");
            specs.setAccessible(true);
            scans.add(new Opened(scan, specs, specs.get(scan)));
            specs.set(scan, all);
        }
    }

    private static Object call(Scan scan, Class<?> owner, String name) throws ReflectiveOperationException {
        Method method = owner.getDeclaredMethod(name);
        method.setAccessible(true);
        return method.invoke(scan);
    }
}
