package sluice.scans;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import org.apache.spark.sql.types.StructType;

/**
 * Finds every scan of a query's plan, and which of them have run.
 *
 * The final plan does not have them all. When one side of a join turns out to be empty, Spark drops the nodes above
 * it, with scans that have run and others that then never run. The stages made on the way, and the initial plan, have
 * these.
 */
public final class PlannedScans {
    private static final int COLUMNS_TOLD = 200;

    private final Set seen = Collections.newSetFromMap(new IdentityHashMap());
    private final Set toldScans = Collections.newSetFromMap(new IdentityHashMap());
    private final Set toldFiles = new HashSet();
    private final List adaptive = new ArrayList();
    private final List ran = new ArrayList();
    private final List planned = new ArrayList();

    /**
     * Returns pairs of a scan and whether it has run: first those that have, in plan order, then the others, each
     * once.
     */
    public static List of(QueryExecution execution) {
        PlannedScans scans = new PlannedScans();
        scans.collect(execution.executedPlan(), true);
        scans.collectStages();
        for (int i = 0; i < scans.adaptive.size(); i++) {
            scans.collect(((AdaptiveSparkPlanExec) scans.adaptive.get(i)).initialPlan(), false);
        }
        List found = new ArrayList();
        add(found, scans.ran, Boolean.TRUE);
        add(found, scans.othersPlanned(), Boolean.FALSE);
        return found;
    }

    /** Returns the first of the columns that a scan reads. */
    public static List columnsOf(StructType read) {
        String[] names = read.fieldNames();
        return Arrays.asList(names).subList(0, Math.min(names.length, COLUMNS_TOLD));
    }

    /** Whether one of the filters holds keys that Spark found while the query ran. */
    public static boolean isPrunedAtRuntime(scala.collection.Iterable filters) {
        scala.collection.Iterator each = filters.iterator();
        while (each.hasNext()) {
            Object filter = each.next();
            // Without a broadcast to take the keys from, TRUE replaces them.
            if (filter instanceof DynamicPruningExpression
                && !(((DynamicPruningExpression) filter).child() instanceof Literal)) {
                return true;
            }
        }
        return false;
    }

    private void collect(SparkPlan plan, boolean hasRun) {
        if (plan instanceof ReusedExchangeExec || !seen.add(plan)) {
            return;
        }
        if (plan instanceof AdaptiveSparkPlanExec) {
            AdaptiveSparkPlanExec found = (AdaptiveSparkPlanExec) plan;
            adaptive.add(found);
            collect(found.executedPlan(), found.isFinalPlan());
            return;
        }
        if (plan instanceof QueryStageExec) {
            collect(((QueryStageExec) plan).plan(), true);
            return;
        }
        if (plan instanceof BatchScanExec || plan instanceof FileSourceScanExec) {
            (hasRun ? ran : planned).add(plan);
            if (hasRun) {
                isFirst(plan);
            }
        }
        collectAll(plan.children(), hasRun);
        collectAll(plan.subqueries(), hasRun);
    }

    private void collectAll(scala.collection.Iterable plans, boolean hasRun) {
        scala.collection.Iterator each = plans.iterator();
        while (each.hasNext()) {
            collect((SparkPlan) each.next(), hasRun);
        }
    }

    /** A query and its subqueries share their stages. */
    private void collectStages() {
        for (int i = 0; i < adaptive.size(); i++) {
            List stages = new ArrayList();
            scala.collection.Iterator each =
                ((AdaptiveSparkPlanExec) adaptive.get(i)).context().stageCache().valuesIterator();
            while (each.hasNext()) {
                stages.add(each.next());
            }
            Collections.sort(stages, new ById());
            for (Iterator inOrder = stages.iterator(); inOrder.hasNext();) {
                collect((SparkPlan) inOrder.next(), true);
            }
        }
    }

    /** A scan's runtime filters may contain another plan of it, whose rows Spark then uses. */
    private List othersPlanned() {
        List others = new ArrayList();
        for (Iterator each = planned.iterator(); each.hasNext();) {
            SparkPlan plan = (SparkPlan) each.next();
            if (isFirst(plan)) {
                others.add(plan);
            }
        }
        return others;
    }

    /** Whether it is the first scan of this table reference; a scan that is planned again has the same reference. */
    private boolean isFirst(SparkPlan plan) {
        if (plan instanceof BatchScanExec) {
            return toldScans.add(((BatchScanExec) plan).scan());
        }
        FileSourceScanExec scan = (FileSourceScanExec) plan;
        List columns = new ArrayList();
        scala.collection.Iterator each = scan.output().iterator();
        while (each.hasNext()) {
            columns.add(((Attribute) each.next()).exprId());
        }
        Integer relation = Integer.valueOf(System.identityHashCode(scan.relation()));
        return toldFiles.add(Arrays.asList(new Object[] {relation, columns}));
    }

    private static void add(List found, List plans, Boolean hasRun) {
        for (Iterator each = plans.iterator(); each.hasNext();) {
            found.add(new Object[] {each.next(), hasRun});
        }
    }

    private static final class ById implements Comparator {
        public int compare(Object one, Object other) {
            return ((QueryStageExec) one).id() - ((QueryStageExec) other).id();
        }
    }
}
