package sluice.statements;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.RebalancePartitions;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.execution.CoalesceExec;
import org.apache.spark.sql.execution.RangeExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.UnionExec;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.exchange.BroadcastExchangeLike;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import org.apache.spark.sql.execution.exchange.ShuffleExchangeLike;
import org.apache.spark.sql.execution.joins.CartesianProductExec;

/** How many partitions, copies of rows and tasks a plan needs, read from its nodes before anything runs. */
public final class PlanSizes {

    /** Returns JSON: [["range", 4], ["REPARTITION", 200], ["copies", 16], ["uses", 40], …] of the analyzed query. */
    public String analyzed(Object dataset) throws Exception {
        LogicalPlan plan = ((Dataset) dataset).queryExecution().analyzed();
        List found = new ArrayList();
        collect(plan, found);
        found.add(part("uses", new ColumnGrowth(false).largestIn(plan)));
        found.add(part("bytes", new ColumnGrowth(true).largestIn(plan)));
        return new ObjectMapper().writeValueAsString(found);
    }

    /** Returns JSON: [["scan of lake.shop.sales", 12], …], the tasks of each stage of the planned query. */
    public String planned(Object dataset) throws Exception {
        List stages = new ArrayList();
        stages.add(outputOf(((Dataset) dataset).queryExecution().executedPlan(), stages));
        return new ObjectMapper().writeValueAsString(stages);
    }

    private static void collect(LogicalPlan node, List found) {
        if (node instanceof Range && ((Range) node).numSlices().isDefined()) {
            found.add(part("range", count(((Range) node).numSlices().get())));
        } else if (node instanceof Repartition) {
            String name = ((Repartition) node).shuffle() ? "REPARTITION" : "COALESCE";
            found.add(part(name, ((Repartition) node).numPartitions()));
        } else if (node instanceof RepartitionByExpression) {
            collectOptional("REPARTITION", ((RepartitionByExpression) node).optNumPartitions(), found);
        } else if (node instanceof RebalancePartitions) {
            collectOptional("REBALANCE", ((RebalancePartitions) node).optNumPartitions(), found);
        } else if (node instanceof Expand) {
            found.add(part("copies", list(((Expand) node).projections()).size()));
        }
        collectAll(node.children(), found);
        collectAll(node.innerChildren(), found);
        collectAll(node.subqueries(), found);
    }

    private static void collectOptional(String name, scala.Option partitions, List found) {
        if (partitions.isDefined()) {
            found.add(part(name, count(partitions.get())));
        }
    }

    private static void collectAll(scala.collection.Iterable plans, List found) {
        scala.collection.Iterator each = plans.iterator();
        while (each.hasNext()) {
            Object plan = each.next();
            if (plan instanceof LogicalPlan) {
                collect((LogicalPlan) plan, found);
            }
        }
    }

    /** Returns the number of partitions of the node's rows, with the label of the node that makes most of them. */
    private static List outputOf(SparkPlan node, List stages) {
        scala.collection.Iterator subqueries = node.subqueries().iterator();
        while (subqueries.hasNext()) {
            stages.add(outputOf((SparkPlan) subqueries.next(), stages));
        }
        if (node instanceof AdaptiveSparkPlanExec) {
            return outputOf(((AdaptiveSparkPlanExec) node).initialPlan(), stages);
        }
        if (node instanceof ReusedExchangeExec) {
            return part("exchange", ((ReusedExchangeExec) node).outputPartitioning().numPartitions());
        }
        if (node instanceof RangeExec) {
            return part("range", ((RangeExec) node).numSlices());
        }
        if (node instanceof BatchScanExec) {
            BatchScanExec scan = (BatchScanExec) node;
            return part("scan of " + scan.table().name(), list(scan.inputPartitions()).size());
        }
        return outputOf(node, inputsOf(node, stages), stages);
    }

    private static List outputOf(SparkPlan node, List inputs, List stages) {
        List most = part(node.nodeName(), 1);
        double sum = 0;
        double product = 1;
        for (int i = 0; i < inputs.size(); i++) {
            List input = (List) inputs.get(i);
            sum += number(input);
            product *= Math.max(number(input), 1);
            most = number(input) > number(most) ? input : most;
        }
        if (node instanceof ShuffleExchangeLike || node instanceof BroadcastExchangeLike) {
            stages.add(most);
            // Not the exchange's own number: to compute it, the exchange makes the partitions below it.
            boolean isShuffle = node instanceof ShuffleExchangeLike;
            return part("exchange", isShuffle ? node.outputPartitioning().numPartitions() : 1);
        }
        if (node instanceof CartesianProductExec) {
            return part("cross join", product);
        }
        if (node instanceof UnionExec) {
            return part("union", sum);
        }
        if (node instanceof CoalesceExec) {
            return part("coalesce", Math.min(((CoalesceExec) node).numPartitions(), number(most)));
        }
        return most;
    }

    private static List inputsOf(SparkPlan node, List stages) {
        List inputs = new ArrayList();
        scala.collection.Iterator each = node.children().iterator();
        while (each.hasNext()) {
            inputs.add(outputOf((SparkPlan) each.next(), stages));
        }
        return inputs;
    }

    private static double number(List part) {
        return ((Double) part.get(1)).doubleValue();
    }

    private static double count(Object number) {
        return ((Number) number).doubleValue();
    }

    private static List part(String what, double count) {
        return Arrays.asList(new Object[] {what, Double.valueOf(Math.min(count, 1e18))});
    }
}
