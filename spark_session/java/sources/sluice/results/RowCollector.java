package sluice.results;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
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
import scala.Option;
import scala.concurrent.duration.Duration;
import scala.jdk.javaapi.CollectionConverters;
import sluice.collections.Partial;

/** Collects few rows from a planned query into one Arrow stream, without the server socket that many rows need. */
public final class RowCollector {

    /**
     * Returns the query itself if it cannot have more than `most` rows; null if it needs a limit.
     *
     * <p>A query of literals alone, like SELECT 1, comes back as one over a row in memory, which the driver answers on
     * its own: a task would wait for a free slot behind all other work.
     */
    public Dataset<?> limited(Dataset<?> query, long most) {
        LogicalPlan plan = query.queryExecution().analyzed();
        if (!isAtMost(plan, most)) {
            return null;
        }
        return isOfValuesAlone(plan)
            ? Dataset$.MODULE$.ofRows(query.sparkSession(), withOneRowInMemory(plan))
            : query;
    }

    private static boolean isOfValuesAlone(LogicalPlan plan) {
        LogicalPlan node = plan;
        while (node instanceof Project || node instanceof SubqueryAlias) {
            node = ((UnaryNode) node).child();
        }
        return node instanceof OneRowRelation;
    }

    private static LogicalPlan withOneRowInMemory(LogicalPlan plan) {
        LogicalPlan row = relation(new StructType(), List.of(InternalRow$.MODULE$.empty()));
        return plan.transformUp(Partial.where(node -> node instanceof OneRowRelation, node -> row));
    }

    /**
     * Plans the query. True if its rows are known to be few, or if it is only a limit over a scan, which Spark's
     * plain collect ends as soon as it has enough.
     */
    public boolean isShort(Dataset<?> query, long fewRows) {
        QueryExecution execution = query.queryExecution();
        return execution.executedPlan() instanceof CollectLimitExec || isAtMost(execution.optimizedPlan(), fewRows);
    }

    /** Runs the query as `collect()` would, and leaves the rows as Spark has them: an array. */
    public Object collect(Dataset<?> query) {
        QueryExecution execution = query.queryExecution();
        SparkPlan plan = execution.executedPlan();
        return SQLExecution$.MODULE$.withNewExecutionId(execution, Option.apply("collect"), plan::executeCollect);
    }

    /** Returns an array of rows as an Arrow IPC stream; null if it is longer than maxBytes. */
    public byte[] arrow(Object rows, StructType rowType, String timeZone, int maxBytes) {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        ArrowBatchStreamWriter writer = new ArrowBatchStreamWriter(rowType, stream, timeZone, false, false);
        writer.writeBatches(ArrowConverters$.MODULE$.toBatchIterator(
            CollectionConverters.asScala(listed(rows).iterator()), rowType, 0, timeZone, false, false, null));
        writer.end();
        return stream.size() <= maxBytes ? stream.toByteArray() : null;
    }

    /** Returns an array of rows as a data set of the session. */
    public Dataset<?> dataset(SparkSession session, Object rows, StructType rowType) {
        return Dataset$.MODULE$.ofRows(session, relation(rowType, listed(rows)));
    }

    /** Whether the server of rows has ended within so many seconds; throws its error, if it had one. */
    public boolean hasEnded(SocketAuthServer<?> server, int seconds) throws Exception {
        try {
            server.getResult(Duration.apply(seconds, TimeUnit.SECONDS));
            return true;
        } catch (Exception failure) {
            // Scala declares no exceptions.
            if (failure instanceof TimeoutException) {
                return false;
            }
            throw failure;
        }
    }

    private static LocalRelation relation(StructType rowType, List<InternalRow> rows) {
        return new LocalRelation(
            seq(list(DataTypeUtils.toAttributes(rowType))), seq(rows), false, Option.empty());
    }

    private static boolean isAtMost(LogicalPlan plan, long rows) {
        Option<Object> most = plan.maxRows();
        return most.isDefined() && (Long) most.get() <= rows;
    }

    /** The array's own type may be that of a subclass, so Python could not call a method that asks for this one. */
    private static List<InternalRow> listed(Object rows) {
        return Arrays.asList((InternalRow[]) rows);
    }
}
