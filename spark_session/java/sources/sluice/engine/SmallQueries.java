package sluice.engine;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;

import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Statistics;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connector.read.LocalScan;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.internal.SQLConf;
import scala.Option;

/**
 * Plans small queries once. Adaptive execution would plan them again after each exchange, and run each exchange as a
 * job of its own: it costs more than it finds when all that a query reads is little.
 */
public final class SmallQueries {

    /** Adaptive execution leaves a shuffle partition no smaller than this by default. */
    private static final long BYTES_OF_PARTITION = 1 << 20;

    private static final long BYTES_OF_ROW = 8;

    /**
     * Takes the query's session out of adaptive execution if the query reads at most this many bytes and makes no more
     * rows of them. Shuffles then have as many partitions as those bytes need. Call it before the query is planned.
     */
    public boolean planOnce(Dataset<?> query, long maxBytes) {
        double bytes = bytesOf(query.queryExecution().optimizedPlan());
        if (!(bytes <= maxBytes)) {
            return false;
        }
        SQLConf conf = query.sparkSession().sessionState().conf();
        int partitions = partitions(
            bytes, query.sparkSession().sparkContext().defaultParallelism(), conf.numShufflePartitions());
        conf.setConfString(SQLConf.ADAPTIVE_EXECUTION_ENABLED().key(), "false");
        conf.setConfString(SQLConf.SHUFFLE_PARTITIONS().key(), String.valueOf(partitions));
        return true;
    }

    /** Returns how many partitions so many bytes need: no more than can run at a time, nor than a session asks for. */
    static int partitions(double bytes, int parallelism, int most) {
        long needed = (long) Math.ceil(bytes / BYTES_OF_PARTITION);
        return (int) Math.max(1, Math.min(needed, Math.min(parallelism, most)));
    }

    /**
     * Returns the bytes of all that the plan reads, subqueries of all nodes included, as its sources estimate them.
     * Infinite if the plan may make many more rows than it reads.
     */
    static double bytesOf(LogicalPlan plan) {
        double bytes = bytesWithoutSubqueries(plan);
        for (LogicalPlan subquery : list(plan.subqueriesAll())) {
            bytes += bytesWithoutSubqueries(subquery);
        }
        return bytes;
    }

    private static double bytesWithoutSubqueries(LogicalPlan plan) {
        double copies = copies(plan);
        if (Double.isInfinite(copies)) {
            return copies;
        }
        double bytes = 0;
        for (LogicalPlan leaf : list(plan.collectLeaves())) {
            bytes += bytesOfLeaf(leaf);
        }
        return bytes * copies;
    }

    /**
     * Rows without columns have no bytes by the estimate of Iceberg, but there may be many. Of aggregates that it
     * answers from a table's statistics, it says no size: they are rows in memory.
     */
    private static double bytesOfLeaf(LogicalPlan leaf) {
        if (leaf instanceof DataSourceV2ScanRelation relation && relation.scan() instanceof LocalScan local) {
            return (double) local.rows().length * BYTES_OF_ROW;
        }
        Statistics estimate = leaf.stats();
        double rows = estimate.rowCount().isDefined() ? estimate.rowCount().get().doubleValue() : 0;
        return Math.max(estimate.sizeInBytes().doubleValue(), rows * BYTES_OF_ROW);
    }

    /** Returns how many rows the plan may make of each one that it reads, apart from joins by keys. */
    private static double copies(LogicalPlan node) {
        if (node instanceof Generate || node.nodeName().startsWith("UnionLoop")) {
            return Double.POSITIVE_INFINITY;
        }
        if (node instanceof Join join && !isOfOneRow(join.left()) && !isOfOneRow(join.right())
            && ExtractEquiJoinKeys.unapply(join).isEmpty()) {
            return Double.POSITIVE_INFINITY;
        }
        // Sets of grouping columns, and several aggregates of DISTINCT values, copy each row.
        double copies = node instanceof Expand expand ? Math.max(1, list(expand.projections()).size()) : 1;
        for (LogicalPlan child : iterable(node.children())) {
            copies *= copies(child);
        }
        return copies;
    }

    private static boolean isOfOneRow(LogicalPlan plan) {
        Option<Object> most = plan.maxRows();
        return most.isDefined() && (Long) most.get() <= 1;
    }
}
