package sluice.progress;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.execution.SparkPlanInfo;

/** The scans and exchanges of a plan, each once. */
final class PlanShape {

    private static final int NODES_READ = 10_000;

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

    /** Returns how many stages the plan will have at least. */
    int leastStages() {
        return exchanges + 1;
    }

    /** Whether all nodes were read. */
    boolean isWhole() {
        return nodes <= NODES_READ;
    }

    private void read(SparkPlanInfo node) {
        String name = node.nodeName();
        nodes++;
        if (nodes > NODES_READ || name.equals("ReusedExchange") || name.equals("ReusedSubquery")) {
            return;
        }
        if (name.equals("Exchange") || name.equals("BroadcastExchange")) {
            exchanges++;
        }
        if (name.startsWith("BatchScan ") || name.startsWith("Scan ")) {
            scans.add(node);
        }
        list(node.children()).forEach(this::read);
    }
}
