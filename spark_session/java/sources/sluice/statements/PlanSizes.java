package sluice.statements;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.RebalancePartitions;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.plans.logical.RepartitionByExpression;
import org.apache.spark.sql.catalyst.trees.TreeNode;
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
import scala.Option;
import sluice.scans.CometNodes;

/** How many partitions, copies of rows and tasks a plan needs, read from its nodes before anything runs. */
public final class PlanSizes {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final double LARGEST = 1e18;

    /** What a node makes, and how many of it. */
    private record Size(String label, double count) {
        Size {
            count = Math.min(count, LARGEST);
        }

        List<Object> row() {
            return List.of(label, count);
        }
    }

    /** Returns JSON: [["range", 4], ["REPARTITION", 200], ["copies", 16], ["uses", 40], …] of the analyzed query. */
    public String analyzed(Dataset<?> dataset) throws Exception {
        return analyzed(dataset.queryExecution().analyzed());
    }

    /** Returns JSON: [["scan of lake.shop.sales", 12], …], the tasks of each stage of the planned query. */
    public String planned(Dataset<?> dataset) throws Exception {
        List<Size> stages = new ArrayList<>();
        stages.add(outputOf(dataset.queryExecution().executedPlan(), stages));
        return json(stages);
    }

    /** Returns the same of an analyzed plan. */
    public static String analyzed(LogicalPlan plan) throws Exception {
        List<Size> found = new ArrayList<>();
        collect(plan, found);
        found.add(new Size("uses", new ColumnGrowth(false).largestIn(plan)));
        found.add(new Size("bytes", new ColumnGrowth(true).largestIn(plan)));
        return json(found);
    }

    private static String json(List<Size> sizes) throws Exception {
        return MAPPER.writeValueAsString(sizes.stream().map(Size::row).toList());
    }

    private static void collect(LogicalPlan node, List<Size> found) {
        if (node instanceof Range range) {
            collectOptional("range", range.numSlices(), found);
        } else if (node instanceof Repartition repartition) {
            String name = repartition.shuffle() ? "REPARTITION" : "COALESCE";
            found.add(new Size(name, repartition.numPartitions()));
        } else if (node instanceof RepartitionByExpression repartition) {
            collectOptional("REPARTITION", repartition.optNumPartitions(), found);
        } else if (node instanceof RebalancePartitions rebalance) {
            collectOptional("REBALANCE", rebalance.optNumPartitions(), found);
        } else if (node instanceof Expand expand) {
            found.add(new Size("copies", list(expand.projections()).size()));
        }
        for (LogicalPlan child : list(node.children())) {
            collect(child, found);
        }
        for (TreeNode<?> inner : list(node.innerChildren())) {
            if (inner instanceof LogicalPlan plan) {
                collect(plan, found);
            }
        }
        for (LogicalPlan subquery : list(node.subqueries())) {
            collect(subquery, found);
        }
    }

    private static void collectOptional(String name, Option<Object> partitions, List<Size> found) {
        if (partitions.isDefined()) {
            found.add(new Size(name, ((Number) partitions.get()).doubleValue()));
        }
    }

    /** Returns the number of partitions of the node's rows, with the label of the node that makes most of them. */
    private static Size outputOf(SparkPlan node, List<Size> stages) {
        for (SparkPlan subquery : list(node.subqueries())) {
            stages.add(outputOf(subquery, stages));
        }
        if (node instanceof AdaptiveSparkPlanExec adaptive) {
            return outputOf(adaptive.initialPlan(), stages);
        }
        if (node instanceof ReusedExchangeExec reused) {
            return new Size("exchange", reused.outputPartitioning().numPartitions());
        }
        SparkPlan original = CometNodes.original(node);
        if (original instanceof RangeExec range) {
            return new Size("range", range.numSlices());
        }
        if (original instanceof BatchScanExec scan) {
            return new Size("scan of " + scan.table().name(), list(scan.inputPartitions()).size());
        }
        List<Size> inputs = new ArrayList<>();
        for (SparkPlan child : list(node.children())) {
            inputs.add(outputOf(child, stages));
        }
        return outputOf(node, inputs, stages);
    }

    private static Size outputOf(SparkPlan node, List<Size> inputs, List<Size> stages) {
        Size most = new Size(node.nodeName(), 1);
        double sum = 0;
        double product = 1;
        for (Size input : inputs) {
            sum += input.count;
            product *= Math.max(input.count, 1);
            most = input.count > most.count ? input : most;
        }
        if (node instanceof ShuffleExchangeLike || node instanceof BroadcastExchangeLike) {
            stages.add(most);
            // Not the exchange's own number: to compute it, the exchange makes the partitions below it.
            boolean isShuffle = node instanceof ShuffleExchangeLike;
            return new Size("exchange", isShuffle ? node.outputPartitioning().numPartitions() : 1);
        }
        SparkPlan original = CometNodes.original(node);
        if (original instanceof CartesianProductExec) {
            return new Size("cross join", product);
        }
        if (original instanceof UnionExec) {
            return new Size("union", sum);
        }
        if (original instanceof CoalesceExec coalesce) {
            return new Size("coalesce", Math.min(coalesce.numPartitions(), most.count));
        }
        return most;
    }
}
