package sluice.scans;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.CommandResultExec;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import org.apache.spark.sql.types.StructType;
import scala.collection.Seq;

/**
 * Finds every scan of a query's plan, and which of them have run.
 *
 * <p>The final plan does not have them all. When one side of a join turns out to be empty, Spark drops the nodes above
 * it, with scans that have run and others that then never run. The stages made on the way, and the initial plan, have
 * these.
 */
public final class PlannedScans {

    private static final int COLUMNS_TOLD = 200;

    private final Set<SparkPlan> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<Scan> toldScans = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<FileScanOutput> toldFiles = new HashSet<>();
    private final List<AdaptiveSparkPlanExec> adaptive = new ArrayList<>();
    private final List<PlannedScan> ran = new ArrayList<>();
    private final List<PlannedScan> planned = new ArrayList<>();

    /** A scan of files by the identity of its relation. */
    private record FileScanOutput(int relation, List<ExprId> columns) {}

    private PlannedScans() {}

    /** Returns each scan once: first those that have run, in plan order, then the others. */
    public static List<PlannedScan> of(QueryExecution execution) {
        PlannedScans scans = new PlannedScans();
        scans.collect(execution.executedPlan(), true);
        scans.collectStages();
        // A plan that is found here is collected, too.
        for (int i = 0; i < scans.adaptive.size(); i++) {
            scans.collect(scans.adaptive.get(i).initialPlan(), false);
        }
        List<PlannedScan> found = new ArrayList<>(scans.ran);
        found.addAll(scans.othersPlanned());
        return found;
    }

    /** Returns the first of the columns that a scan reads. */
    public static List<String> columnsOf(StructType read) {
        String[] names = read.fieldNames();
        return Arrays.asList(names).subList(0, Math.min(names.length, COLUMNS_TOLD));
    }

    /** Whether one of the filters holds keys that Spark found while the query ran. */
    public static boolean isPrunedAtRuntime(Seq<Expression> filters) {
        // Without a broadcast to take the keys from, TRUE replaces them.
        return list(filters).stream().anyMatch(filter ->
            filter instanceof DynamicPruningExpression pruning && !(pruning.child() instanceof Literal));
    }

    private void collect(SparkPlan plan, boolean hasRun) {
        if (plan instanceof ReusedExchangeExec || !seen.add(plan)) {
            return;
        }
        if (plan instanceof AdaptiveSparkPlanExec found) {
            adaptive.add(found);
            collect(found.executedPlan(), found.isFinalPlan());
            return;
        }
        if (plan instanceof QueryStageExec stage) {
            collect(stage.plan(), true);
            return;
        }
        if (plan instanceof CommandResultExec command) {
            collect(command.commandPhysicalPlan(), true);
            return;
        }
        SparkPlan scan = CometNodes.original(plan);
        if (scan instanceof BatchScanExec || scan instanceof FileSourceScanExec) {
            (hasRun ? ran : planned).add(new PlannedScan(scan, plan, hasRun));
            if (hasRun) {
                isFirst(scan);
            }
        }
        for (SparkPlan child : list(plan.children())) {
            collect(child, hasRun);
        }
        for (SparkPlan subquery : list(plan.subqueries())) {
            collect(subquery, hasRun);
        }
    }

    /** A query and its subqueries share their stages. */
    private void collectStages() {
        for (int i = 0; i < adaptive.size(); i++) {
            List<QueryStageExec> stages = new ArrayList<>();
            iterable(adaptive.get(i).context().stageCache().values()).forEach(stages::add);
            stages.sort(Comparator.comparingInt(QueryStageExec::id));
            stages.forEach(stage -> collect(stage, true));
        }
    }

    /** A scan's runtime filters may contain another plan of it, whose rows Spark then uses. */
    private List<PlannedScan> othersPlanned() {
        return planned.stream().filter(scan -> isFirst(scan.plan())).toList();
    }

    /** Whether it is the first scan of this table reference; a scan that is planned again has the same reference. */
    private boolean isFirst(SparkPlan plan) {
        if (plan instanceof BatchScanExec scan) {
            return toldScans.add(scan.scan());
        }
        FileSourceScanExec scan = (FileSourceScanExec) plan;
        List<ExprId> columns = list(scan.output()).stream().map(Attribute::exprId).toList();
        return toldFiles.add(new FileScanOutput(System.identityHashCode(scan.relation()), columns));
    }
}
