package sluice.engine;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;

import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.internal.SQLConf;
import scala.Option;

/**
 * Plans small queries once. Adaptive execution would plan them again after each exchange, and run each exchange as a
 * job of its own: it costs more than it finds when all that a query reads is little.
 */
public final class SmallQueries {

    /** Adaptive execution leaves a shuffle partition no smaller than this by default. */
    private static final long BYTES_OF_PARTITION = 1 << 20;

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
     * Returns the bytes of all that the plan reads, subqueries included, as its sources estimate them. Infinite if the
     * plan may make many more rows than it reads.
     */
    static double bytesOf(LogicalPlan plan) {
        double bytes = 0;
        for (LogicalPlan leaf : list(plan.collectLeaves())) {
            bytes += leaf.stats().sizeInBytes().doubleValue();
        }
        for (LogicalPlan subquery : list(plan.subqueries())) {
            bytes += bytesOf(subquery);
        }
        return makesRows(plan) ? Double.POSITIVE_INFINITY : bytes;
    }

    private static boolean makesRows(LogicalPlan node) {
        if (node instanceof Generate || node.nodeName().startsWith("UnionLoop")) {
            return true;
        }
        if (node instanceof Join join && !isOfOneRow(join.left()) && !isOfOneRow(join.right())
            && ExtractEquiJoinKeys.unapply(join).isEmpty()) {
            return true;
        }
        for (LogicalPlan child : iterable(node.children())) {
            if (makesRows(child)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOfOneRow(LogicalPlan plan) {
        Option<Object> most = plan.maxRows();
        return most.isDefined() && (Long) most.get() <= 1;
    }
}
