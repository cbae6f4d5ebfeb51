package sluice.results;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.security.SocketAuthServer;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.InternalRow$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CollectLimitExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.arrow.ArrowBatchStreamWriter;
import org.apache.spark.sql.execution.arrow.ArrowConverters$;
import org.apache.spark.sql.types.StructType;
import scala.concurrent.duration.Duration;
import scala.jdk.javaapi.CollectionConverters;

/** Collects few rows from a planned query into one Arrow stream, without the server socket that many rows need. */
public final class RowCollector {

    /**
     * Returns the query itself if it cannot have more than `rows` rows; null if it needs a limit.
     *
     * A query of literals alone, like SELECT 1, comes back as one over a row in memory, which the driver answers on
     * its own: a task would wait for a free slot behind all other work.
     */
    public Object limited(Object dataset, long rows) {
        Dataset query = (Dataset) dataset;
        LogicalPlan plan = query.queryExecution().analyzed();
        if (!isAtMost(plan.maxRows(), rows)) {
            return null;
        }
        return isOfValuesAlone(plan)
            ? Dataset$.MODULE$.ofRows(query.sparkSession(), (LogicalPlan) plan.transformUp(new OneRowInMemory()))
            : query;
    }

    private static boolean isOfValuesAlone(LogicalPlan plan) {
        LogicalPlan node = plan;
        while (node instanceof Project || node instanceof SubqueryAlias) {
            node = (LogicalPlan) ((UnaryNode) node).child();
        }
        return node instanceof OneRowRelation;
    }

    /**
     * Plans the query. True if its rows are known to be few, or if it is only a limit over a scan, which Spark's
     * plain collect ends as soon as it has enough.
     */
    public boolean isShort(Object dataset, long fewRows) {
        QueryExecution execution = ((Dataset) dataset).queryExecution();
        if (execution.executedPlan() instanceof CollectLimitExec) {
            return true;
        }
        return isAtMost(execution.optimizedPlan().maxRows(), fewRows);
    }

    /** Runs the query as `collect()` would, and leaves the rows as Spark has them. */
    public Object collect(Object dataset) {
        QueryExecution execution = ((Dataset) dataset).queryExecution();
        scala.Option name = scala.Option.apply("collect");
        return SQLExecution$.MODULE$.withNewExecutionId(execution, name, new Collecting(execution.executedPlan()));
    }

    /** Returns the rows as an Arrow IPC stream; null if it is longer than maxBytes. */
    public byte[] arrow(Object rows, Object rowType, String timeZone, int maxBytes) {
        StructType schema = (StructType) rowType;
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        ArrowBatchStreamWriter writer = new ArrowBatchStreamWriter(schema, stream, timeZone, false, false);
        writer.writeBatches(
            (scala.collection.Iterator) ArrowConverters$.MODULE$.toBatchIterator(
                listed(rows).iterator(), schema, 0L, timeZone, false, false, null));
        writer.end();
        return stream.size() <= maxBytes ? stream.toByteArray() : null;
    }

    /** Returns the rows as a data set of the session. */
    public Object dataset(Object session, Object rows, Object rowType) {
        scala.collection.immutable.Seq columns =
            (scala.collection.immutable.Seq) DataTypeUtils.toAttributes((StructType) rowType);
        LocalRelation relation =
            new LocalRelation(columns, listed(rows).toSeq(), false, scala.Option.apply(null));
        return Dataset$.MODULE$.ofRows((SparkSession) session, relation);
    }

    /** Whether the server of rows has ended within so many seconds; throws its error, if it had one. */
    public boolean hasEnded(Object server, int seconds) throws Exception {
        try {
            ((SocketAuthServer) server).getResult(Duration.apply((long) seconds, TimeUnit.SECONDS));
            return true;
        } catch (Exception failure) {
            if (failure instanceof TimeoutException) {
                return false;
            }
            throw failure;
        }
    }

    private static boolean isAtMost(scala.Option most, long rows) {
        return most.isDefined() && ((Long) most.get()).longValue() <= rows;
    }

    private static scala.collection.mutable.Buffer listed(Object rows) {
        return CollectionConverters.asScala(Arrays.asList((InternalRow[]) rows));
    }

    private static final class OneRowInMemory extends scala.runtime.AbstractPartialFunction {
        public boolean isDefinedAt(Object node) {
            return node instanceof OneRowRelation;
        }

        public Object applyOrElse(Object node, scala.Function1 otherwise) {
            if (!isDefinedAt(node)) {
                return otherwise.apply(node);
            }
            scala.collection.immutable.Seq none = scala.collection.immutable.Nil$.MODULE$;
            return new LocalRelation(
                none, listed(new InternalRow[] {InternalRow$.MODULE$.empty()}).toSeq(), false, scala.Option.apply(null));
        }
    }

    private static final class Collecting extends scala.runtime.AbstractFunction0 {
        private final SparkPlan plan;

        Collecting(SparkPlan plan) {
            this.plan = plan;
        }

        public Object apply() {
            return plan.executeCollect();
        }
    }
}
