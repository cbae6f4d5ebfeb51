package sluice.sessions;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.LocalTempView$;
import org.apache.spark.sql.catalyst.analysis.SchemaUnsupported$;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.execution.arrow.ArrowConverters$;
import org.apache.spark.sql.execution.command.CreateViewCommand;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CloseableIterator;
import scala.Option;
import scala.Tuple2;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Seq;
import sluice.relations.FoldRelations;
import sluice.relations.KnownRelation;
import sluice.relations.RelationCache;

/** Rows that stay in the driver, and the views by which queries read them. */
public final class LocalRelations {

    private static final String EXCLUDED_RULES = "spark.sql.optimizer.excludedRules";
    private static final String FOLDING = ConvertToLocalRelation$.MODULE$.ruleName();

    private RelationCache cache = new RelationCache();

    /** Keeps what queries make of the relations in this cache. */
    public void use(RelationCache ofQueries) {
        cache = ofQueries;
    }

    /** Returns the memory that an array of collected rows takes. */
    public long sizeOf(Object rows) {
        return sizeOf(listed(rows));
    }

    /** Returns an array of collected rows as a relation. */
    public KnownRelation relation(Object rows, StructType rowType) {
        return relation(listed(rows), rowType);
    }

    /** Returns the rows of an Arrow stream as a relation; null if they take more than maxBytes, at rowBytes each. */
    public KnownRelation ofArrow(byte[] stream, long maxBytes, long rowBytes) throws Exception {
        Tuple2<CloseableIterator<InternalRow>, StructType> read =
            ArrowConverters$.MODULE$.fromIPCStream(stream);
        StructType rowType = read._2();
        Seq<Attribute> columns = columnsOf(rowType);
        // The contents of the stream's vectors are gone when they are closed.
        UnsafeProjection copied = UnsafeProjection$.MODULE$.create(seq(list(columns)), columns);
        List<InternalRow> kept = new ArrayList<>();
        long bytes = 0;
        try (CloseableIterator<InternalRow> rows = read._1()) {
            while (rows.hasNext()) {
                UnsafeRow row = copied.apply(rows.next()).copy();
                bytes += row.getSizeInBytes() + rowBytes;
                if (bytes > maxBytes) {
                    return null;
                }
                kept.add(row);
            }
        }
        return relation(kept, rowType);
    }

    /** Returns the memory that the rows of a relation take. */
    public long sizeOfRelation(KnownRelation relation) {
        return sizeOf(iterable(relation.data()));
    }

    /**
     * Gives the session a temporary view of the relation.
     *
     * <p>`createOrReplaceTempView` does the same by a query of its own. That query is first planned, explained and
     * reported to all listeners: several milliseconds for each view of each query.
     *
     * <p>Each view has columns with numbers of their own. If two had the same, Spark would number those of one again
     * while it resolves a query, and would not find the columns of HAVING any more.
     */
    public void bind(SparkSession session, String name, KnownRelation relation) {
        new CreateViewCommand(
            new TableIdentifier(name),
            seq(List.of()),
            Option.empty(),
            Option.empty(),
            Map$.MODULE$.empty(),
            Option.empty(),
            relation.renumbered(),
            false,
            true,
            LocalTempView$.MODULE$,
            SchemaUnsupported$.MODULE$,
            true,
            seq(List.of())
        ).run(session);
    }

    /**
     * Lets the session's query use what earlier ones have made of its relations, unless the session has switched that
     * off.
     *
     * <p>Spark's own rule makes rows that no later query can find again.
     */
    public void foldAsCached(SparkSession session) {
        if (cache.isOpen() && !session.conf().get(FoldRelations.SWITCH, "true").equals("false")) {
            session.conf().set(FoldRelations.SWITCH, "true");
            String own = session.conf().get(EXCLUDED_RULES, "");
            session.conf().set(EXCLUDED_RULES, own.isEmpty() ? FOLDING : own + "," + FOLDING);
        }
    }

    private static long sizeOf(Iterable<InternalRow> rows) {
        long bytes = 0;
        for (InternalRow row : rows) {
            bytes += ((UnsafeRow) row).getSizeInBytes();
        }
        return bytes;
    }

    private KnownRelation relation(List<InternalRow> rows, StructType rowType) {
        return KnownRelation.of(columnsOf(rowType), cache.add(rows));
    }

    private static Seq<Attribute> columnsOf(StructType rowType) {
        return seq(list(DataTypeUtils.toAttributes(rowType)));
    }

    /** The array's own type may be that of a subclass, so Python could not call a method that asks for this one. */
    private static List<InternalRow> listed(Object rows) {
        return Arrays.asList((InternalRow[]) rows);
    }
}
