package sluice.stored;

import static sluice.collections.Lists.seq;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.HashMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.spark.SimpleFutureAction;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkException;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnaryNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.ThreadUtils;
import scala.Function0;
import scala.Function2;
import scala.Option;
import scala.concurrent.duration.Duration;
import scala.runtime.BoxedUnit;

/**
 * Runs a planned query in one job whose tasks write its rows as Arrow to their place; few rows come to the driver.
 *
 * <p>The driver knows of the parts, and of their order. It ends the job when the first parts have all the rows that
 * the result may have.
 */
public final class ResultWriter {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    /** Rows beyond the limits are in the place a little longer than this. */
    private static final Duration CLEANED_EVERY = Duration.apply(500, TimeUnit.MILLISECONDS);

    /**
     * Returns the query with a limit on the rows of each partition alone, because the writer cuts the whole; null if
     * one limit for all is better: the first rows of an order need no sort of all rows.
     *
     * <p>A limit for all would send every row through one task.
     */
    public Dataset<?> limitedByPart(Dataset<?> query, int most) {
        LogicalPlan plan = query.queryExecution().analyzed();
        boolean isFirstOfOrder = isSorted(plan)
            && most < query.sparkSession().sessionState().conf().topKSortFallbackThreshold();
        return isFirstOfOrder
            ? null
            : Dataset$.MODULE$.ofRows(query.sparkSession(), new LocalLimit(Literal$.MODULE$.apply(most), plan));
    }

    private static boolean isSorted(LogicalPlan plan) {
        LogicalPlan node = plan;
        while (node instanceof Project || node instanceof SubqueryAlias) {
            node = ((UnaryNode) node).child();
        }
        return node instanceof Sort sort && sort.global();
    }

    /**
     * Runs the query, and leaves files at the `address` if its rows are many.
     *
     * @param properties of the object store there, in JSON; without any, it is a folder
     * @param rowType the types of the rows as Arrow has them, in Spark's JSON
     * @param driverBytes what all parts together may send to the driver
     */
    public WrittenResult write(
            Dataset<?> query, String address, String properties, String rowType, boolean hasLargeTypes, long mostRows,
            long mostBytes, int batchRows, long batchBytes, int inlineBytes, long driverBytes) {
        QueryExecution execution = query.queryExecution();
        PartBounds bounds = new PartBounds(mostRows, mostBytes, batchRows, batchBytes, inlineBytes);
        StructType type = (StructType) DataType.fromJson(rowType);
        Function0<WrittenResult> body = () -> {
            RDD<InternalRow> rows = execution.executedPlan().execute();
            PartBounds shared = bounds.sharedBy(rows.getNumPartitions(), driverBytes);
            String run = UUID.randomUUID().toString().substring(0, 8);
            try {
                HashMap<String, String> reached = MAPPER.readValue(properties, new TypeReference<>() {});
                Place place = Place.at(address, reached);
                place.prepare();
                PartTask task = new PartTask(address, reached, run, type, hasLargeTypes, shared);
                Parts parts = ran(rows, task, bounds, place);
                Part.Failure failure = parts.failure();
                return failure == null
                    ? WrittenResult.of(parts.first(), mostRows, mostBytes, place)
                    : WrittenResult.failed(failure);
            } catch (IOException failure) {
                return WrittenResult.failed(new PartSink.CannotStore(failure).failure);
            }
        };
        return SQLExecution$.MODULE$.withNewExecutionId(execution, Option.apply("write"), body);
    }

    private static Parts ran(RDD<InternalRow> rows, PartTask task, PartBounds bounds, Place place) {
        int count = rows.getNumPartitions();
        Parts parts = new Parts(count, bounds.rows(), bounds.bytes());
        AtomicReference<SimpleFutureAction<BoxedUnit>> job = new AtomicReference<>();
        Function2<Object, Object[], BoxedUnit> take = (index, packed) -> {
            boolean isCut = parts.take((Integer) index, Part.of(packed));
            SimpleFutureAction<BoxedUnit> started = job.get();
            if (isCut && started != null) {
                started.cancel();
            }
            return BoxedUnit.UNIT;
        };
        SparkContext context = rows.context();
        job.set(context.submitJob(rows, task, seq(IntStream.range(0, count).mapToObj(number -> (Object) number).toList()), take,
            () -> BoxedUnit.UNIT));
        if (parts.isCut()) {
            // It was, before the job had a name here.
            job.get().cancel();
        }
        try {
            while (!isReady(job.get())) {
                place.delete(parts.takeDropped());
            }
        } finally {
            job.get().cancel();
        }
        if (!parts.isDecided()) {
            // It has failed, or was canceled: get throws why.
            job.get().value().get().get();
        }
        return parts;
    }

    /** Waits a little for the job. */
    private static boolean isReady(SimpleFutureAction<BoxedUnit> job) {
        try {
            ThreadUtils.awaitReady(job, CLEANED_EVERY);
            return true;
        } catch (SparkException failure) {
            throw new IllegalStateException(failure);
        } catch (Exception failure) {
            // Scala declares no exceptions.
            if (failure instanceof TimeoutException) {
                return false;
            }
            throw failure;
        }
    }
}
