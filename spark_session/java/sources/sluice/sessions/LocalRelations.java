package sluice.sessions;

import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.LocalTempView$;
import org.apache.spark.sql.catalyst.analysis.SchemaUnsupported$;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.execution.arrow.ArrowConverters$;
import org.apache.spark.sql.execution.command.CreateViewCommand;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CloseableIterator;

/** Rows that stay in the driver, and the views by which queries read them. */
public final class LocalRelations {

    private static final scala.Option NONE = scala.Option.apply(null);
    private static final scala.collection.immutable.Seq NOTHING = seq(List.of());

    /** Returns the memory that collected rows take. */
    public long sizeOf(Object rows) {
        long bytes = 0L;
        InternalRow[] all = (InternalRow[]) rows;
        for (int i = 0; i < all.length; i++) {
            bytes += ((UnsafeRow) all[i]).getSizeInBytes();
        }
        return bytes;
    }

    /** Returns collected rows as a relation. */
    public Object relation(Object rows, Object rowType) {
        scala.collection.immutable.Seq columns =
            (scala.collection.immutable.Seq) DataTypeUtils.toAttributes((StructType) rowType);
        scala.collection.immutable.Seq all = seq(Arrays.asList((InternalRow[]) rows));
        return new LocalRelation(columns, all, false, NONE);
    }

    /** Returns the rows of an Arrow stream as a relation; null if they take more than maxBytes, at rowBytes each. */
    public Object ofArrow(byte[] stream, long maxBytes, long rowBytes) throws Exception {
        scala.Tuple2 read = ArrowConverters$.MODULE$.fromIPCStream(stream);
        StructType rowType = (StructType) read._2();
        scala.collection.immutable.Seq columns =
            (scala.collection.immutable.Seq) DataTypeUtils.toAttributes(rowType);
        // The contents of the stream's vectors are gone when they are closed.
        UnsafeProjection copied = UnsafeProjection$.MODULE$.create(columns, columns);
        ArrayList kept = new ArrayList();
        long bytes = 0L;
        CloseableIterator rows = (CloseableIterator) read._1();
        try {
            while (rows.hasNext()) {
                UnsafeRow row = ((UnsafeRow) copied.apply((InternalRow) rows.next())).copy();
                bytes += row.getSizeInBytes() + rowBytes;
                if (bytes > maxBytes) {
                    return null;
                }
                kept.add(row);
            }
        } finally {
            rows.close();
        }
        return relation(kept.toArray(new InternalRow[kept.size()]), rowType);
    }

    /** Returns the memory that the rows of a relation take. */
    public long sizeOfRelation(Object relation) {
        long bytes = 0L;
        scala.collection.Iterator rows = ((LocalRelation) relation).data().iterator();
        while (rows.hasNext()) {
            bytes += ((UnsafeRow) rows.next()).getSizeInBytes();
        }
        return bytes;
    }

    /**
     * Gives the session a temporary view of the relation.
     *
     * `createOrReplaceTempView` does the same by a query of its own. That query is first planned, explained and
     * reported to all listeners: several milliseconds for each view of each query.
     */
    public void bind(Object session, String name, Object relation) {
        new CreateViewCommand(
            new TableIdentifier(name),
            NOTHING,
            NONE,
            NONE,
            scala.collection.immutable.Map$.MODULE$.empty(),
            NONE,
            (LogicalPlan) relation,
            false,
            true,
            LocalTempView$.MODULE$,
            SchemaUnsupported$.MODULE$,
            true,
            NOTHING
        ).run((SparkSession) session);
    }
}
