package sluice.sessions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import sluice.relations.KnownRelation;

final class LocalRelationsTest {

    private static final StructType TYPE =
        new StructType().add("n", DataTypes.LongType).add("s", DataTypes.StringType);

    private final LocalRelations relations = new LocalRelations();

    @Test
    void rowsAndTheirRelationTakeTheSameMemory() {
        UnsafeProjection projection = UnsafeProjection$.MODULE$.create(TYPE);
        UnsafeRow one = projection.apply(row(1, "a")).copy();
        UnsafeRow other = projection.apply(row(2, "a longer text")).copy();
        InternalRow[] rows = {one, other};
        long bytes = one.getSizeInBytes() + other.getSizeInBytes();
        assertEquals(bytes, relations.sizeOf(rows));
        KnownRelation relation = relations.relation(rows, TYPE);
        assertEquals(bytes, relations.sizeOfRelation(relation));
        assertEquals(TYPE, relation.schema());
        assertEquals(List.of(one, other), list(relation.data()));
    }

    private static InternalRow row(long number, String text) {
        return InternalRow.fromSeq(seq(List.of((Object) number, UTF8String.fromString(text))));
    }
}
