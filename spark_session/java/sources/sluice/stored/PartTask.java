package sluice.stored;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskKilledException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Runs on executors: makes one part of a result of the rows of one partition. Returns it packed. */
final class PartTask extends AbstractFunction1<Iterator<InternalRow>, Object[]> implements Serializable {

    private static final long serialVersionUID = 1;

    private final String address;
    private final HashMap<String, String> properties;
    private final String run;
    private final StructType rowType;
    private final boolean hasLargeTypes;
    private final PartBounds bounds;

    /** `run` is part of the files' names, because a query may run again in the same folder. */
    PartTask(
            String address, HashMap<String, String> properties, String run, StructType rowType, boolean hasLargeTypes,
            PartBounds bounds) {
        this.address = address;
        this.properties = properties;
        this.run = run;
        this.rowType = rowType;
        this.hasLargeTypes = hasLargeTypes;
        this.bounds = bounds;
    }

    @Override
    public Object[] apply(Iterator<InternalRow> rows) {
        TaskContext task = TaskContext.get();
        String name = String.format("%s-%05d-%d.part", run, task.partitionId(), task.taskAttemptId());
        return part(rows, name, task).packed();
    }

    private Part part(Iterator<InternalRow> rows, String name, TaskContext task) {
        PartSink sink;
        try {
            sink = new PartSink(Place.at(address, properties), name, bounds.inlineBytes());
        } catch (IOException failure) {
            return Part.failed(new PartSink.CannotStore(failure).failure);
        }
        boolean isComplete = false;
        try (BatchWriter writer = new BatchWriter(rowType, hasLargeTypes, sink)) {
            Part part = sink.end(written(rows, writer, task));
            isComplete = true;
            return part;
        } catch (PartSink.CannotStore failure) {
            return Part.failed(failure.failure);
        } finally {
            if (!isComplete) {
                sink.abandon();
            }
        }
    }

    private List<Batch> written(Iterator<InternalRow> rows, BatchWriter writer, TaskContext task) {
        List<Batch> batches = new ArrayList<>();
        long rowCount = 0;
        long byteCount = 0;
        long batchBytes = 0;
        while (rowCount <= bounds.rows() && (byteCount <= bounds.bytes() || rowCount <= 1) && rows.hasNext()) {
            InternalRow row = rows.next();
            long size = row instanceof UnsafeRow flat ? flat.getSizeInBytes() : 0;
            if (writer.rows() >= bounds.batchRows() || writer.rows() > 0 && batchBytes + size > bounds.batchBytes()) {
                if (task.isInterrupted()) {
                    throw new TaskKilledException("the query has ended");
                }
                Batch batch = writer.flush();
                byteCount += batch.bytes();
                batches.add(batch);
                batchBytes = 0;
            }
            writer.add(row);
            rowCount++;
            batchBytes = row instanceof UnsafeRow ? batchBytes + size : writer.bytes();
        }
        if (writer.rows() > 0) {
            batches.add(writer.flush());
        }
        return batches;
    }
}
