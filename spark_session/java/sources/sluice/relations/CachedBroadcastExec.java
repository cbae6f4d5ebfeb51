package sluice.relations;

import static sluice.collections.Lists.seq;

import java.util.List;
import java.util.Objects;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastPartitioning;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.LeafExecNode;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** The side of a join whose rows are broadcast already, or are broadcast without a job of Spark. */
public final class CachedBroadcastExec extends SparkPlan implements LeafExecNode {

    private static final long serialVersionUID = 1;

    /** Not transient: where Spark compiles no code for a join, its tasks ask for the columns. */
    private final Seq<Attribute> columns;
    private final transient BroadcastMode mode;
    private final transient KnownRows rows;

    /** Spark copies nodes by this constructor, with the parts of the product. */
    public CachedBroadcastExec(Seq<Attribute> columns, BroadcastMode mode, KnownRows rows) {
        this.columns = columns;
        this.mode = mode;
        this.rows = rows;
    }

    @Override
    public Seq<Attribute> output() {
        return columns;
    }

    @Override
    public Seq<SparkPlan> children() {
        return seq(List.of());
    }

    @Override
    public SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> none) {
        return this;
    }

    @Override
    public Partitioning outputPartitioning() {
        return new BroadcastPartitioning(mode);
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T> Broadcast<T> doExecuteBroadcast() {
        return (Broadcast<T>) rows.broadcast(mode, RowSettings.of(conf()));
    }

    @Override
    public RDD<InternalRow> doExecute() {
        throw new UnsupportedOperationException("rows that are broadcast are not read by tasks of their own");
    }

    @Override
    public String nodeName() {
        return "CachedBroadcast";
    }

    @Override
    public int productArity() {
        return 3;
    }

    @Override
    public Object productElement(int place) {
        return switch (place) {
            case 0 -> columns;
            case 1 -> mode;
            case 2 -> rows;
            default -> throw new IndexOutOfBoundsException(place);
        };
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof CachedBroadcastExec;
    }

    /** Two sides are equal if they have the same rows for the same keys; after Spark has numbered their columns. */
    @Override
    public boolean equals(Object other) {
        return this == other
            || other instanceof CachedBroadcastExec that
            && rows.number() == that.rows.number()
            && columns.equals(that.columns)
            && mode.equals(that.mode);
    }

    @Override
    public int hashCode() {
        return Objects.hash(rows.number(), columns, mode);
    }
}
