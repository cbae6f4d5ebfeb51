package sluice.progress;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.execution.SparkPlanInfo;

/** The scans and exchanges of a plan, each once. */
final class PlanShape {

    private static final int NODES_READ = 10_000;
    private static final Set<String> EXCHANGES = Set.of(
        "Exchange", "BroadcastExchange", "CometExchange", "CometColumnarExchange", "CometBroadcastExchange");
    private static final String NATIVE = "Comet";
    private static final Pattern NATIVE_SCAN = Pattern.compile("Comet(Native)?(Scan .*)");
    private static final Pattern NATIVE_ICEBERG = Pattern.compile("\\bIcebergScan\\(table=([^,]+),");

    private final List<SparkPlanInfo> scans = new ArrayList<>();
    private int exchanges = 0;
    private int nodes = 0;

    private PlanShape() {}

    static PlanShape of(SparkPlanInfo plan) {
        PlanShape shape = new PlanShape();
        shape.read(plan);
        return shape;
    }

    List<SparkPlanInfo> scans() {
        return scans;
    }

    /** Returns the name of a scan's node as Spark's own node would have it. */
    static String nameOf(SparkPlanInfo scan) {
        Matcher ofIceberg = NATIVE_ICEBERG.matcher(scan.simpleString());
        if (scan.nodeName().startsWith(NATIVE) && ofIceberg.find()) {
            return "BatchScan " + ofIceberg.group(1);
        }
        Matcher ofFiles = NATIVE_SCAN.matcher(scan.nodeName());
        return ofFiles.matches() ? ofFiles.group(2) : scan.nodeName();
    }

    /** Returns how many stages the plan will have at least. */
    int leastStages() {
        return exchanges + 1;
    }

    /** Whether all nodes were read. */
    boolean isWhole() {
        return nodes <= NODES_READ;
    }

    /** Whether it is a scan of Comet. Those of Iceberg's tables name the table only in their description. */
    private static boolean isNativeScan(String name) {
        return name.equals("CometIcebergNativeScan") || NATIVE_SCAN.matcher(name).matches();
    }

    private void read(SparkPlanInfo node) {
        String name = node.nodeName();
        nodes++;
        if (nodes > NODES_READ || name.equals("ReusedExchange") || name.equals("ReusedSubquery")) {
            return;
        }
        if (EXCHANGES.contains(name)) {
            exchanges++;
        }
        if (name.startsWith("BatchScan ") || name.startsWith("Scan ") || isNativeScan(name)) {
            scans.add(node);
        }
        list(node.children()).forEach(this::read);
    }
}
