import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.types.DataTypeUtils;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructType;
import scala.jdk.javaapi.CollectionConverters;

/** Rows that stay in the driver, and the views by which queries read them. */
public final class LocalRelations {

    /** What collected rows take of memory. */
    public long sizeOf(Object rows) {
        long bytes = 0L;
        InternalRow[] all = (InternalRow[]) rows;
        for (int i = 0; i < all.length; i++) {
            bytes += ((UnsafeRow) all[i]).getSizeInBytes();
        }
        return bytes;
    }

    /** Collected rows as a relation. */
    public Object relation(Object rows, Object rowType) {
        scala.collection.immutable.Seq columns =
            (scala.collection.immutable.Seq) DataTypeUtils.toAttributes((StructType) rowType);
        scala.collection.immutable.Seq all =
            CollectionConverters.asScala(Arrays.asList((InternalRow[]) rows)).toSeq();
        return new LocalRelation(columns, all, false, scala.Option.apply(null));
    }

    /** Gives the session a temporary view of each relation, by its name. */
    public void bind(Object session, Map relations) {
        Iterator each = relations.entrySet().iterator();
        while (each.hasNext()) {
            Map.Entry named = (Map.Entry) each.next();
            Dataset$.MODULE$
                .ofRows((SparkSession) session, (LogicalPlan) named.getValue())
                .createOrReplaceTempView((String) named.getKey());
        }
    }
}
