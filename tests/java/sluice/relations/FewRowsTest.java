package sluice.relations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.column;
import static sluice.fixtures.Plans.literal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Add;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection$;
import org.apache.spark.sql.catalyst.optimizer.ConvertToLocalRelation$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import scala.Option;
import scala.collection.immutable.Seq;

final class FewRowsTest {

    private static final int MANY = 20_000;
    private static final int ROUNDS = 400;
    private static final List<Integer> EDGES = Arrays.asList(Integer.MIN_VALUE, Integer.MAX_VALUE, -1, 0, 3, 7, null);

    private final RelationCache cache = new RelationCache();
    private final Attribute day = column("d", DataTypes.DateType);
    private final Attribute number = column("n", DataTypes.IntegerType);
    private final Attribute large = column("l", DataTypes.LongType);
    private final Random random = new Random(7);
    private Seq<InternalRow> rows;

    @BeforeEach
    void addRows() {
        cache.keepAtMost(1 << 24);
        rows = rows(MANY);
    }

    @Test
    void theSameRowsPassAsInSpark() {
        int few = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Filter filter = new Filter(condition(2), relation());
            LocalRelation found = FewRows.of(filter, relation(), cache.of(rows));
            LocalRelation expected = (LocalRelation) ConvertToLocalRelation$.MODULE$.apply(filter);
            if (found != null) {
                few++;
                assertEquals(list(expected.data()), list(found.data()), filter::toString);
                assertEquals(list(expected.output()), list(found.output()));
            }
        }
        assertTrue(few > ROUNDS / 5, () -> "too few conditions were tried");
    }

    @Test
    void fewRowsNeedNoOrder() {
        rows = rows(100);
        Filter filter = new Filter(new EqualTo(large, literal(3L)), relation());
        LocalRelation expected = (LocalRelation) ConvertToLocalRelation$.MODULE$.apply(filter);
        LocalRelation found = FewRows.of(filter, relation(), cache.of(rows));
        assertNotNull(found);
        assertEquals(list(expected.data()), list(found.data()));
        assertEquals("0", cache.use().split(" ")[0]);
    }

    @Test
    void aConditionThatMayFailIsLeftToSpark() {
        Expression sum = new Add(number, literal(1));
        Expression condition = new And(new EqualTo(number, literal(3)), new GreaterThan(sum, literal(3)));
        assertNull(FewRows.of(new Filter(condition, relation()), relation(), cache.of(rows)));
    }

    @Test
    void aConditionForManyRowsIsLeftToSpark() {
        Expression condition = new GreaterThan(number, literal(Integer.MIN_VALUE));
        assertNull(FewRows.of(new Filter(condition, relation()), relation(), cache.of(rows)));
    }

    private Expression condition(int depth) {
        Attribute column = random.nextBoolean() ? day : number;
        return switch (random.nextInt(depth > 0 ? 10 : 7)) {
            case 0 -> new EqualTo(column, drawn(column));
            case 1 -> new EqualNullSafe(drawn(column), column);
            case 2 -> new LessThan(column, drawn(column));
            case 3 -> new LessThanOrEqual(drawn(column), column);
            case 4 -> new GreaterThan(drawn(column), column);
            case 5 -> new In(column, seq(List.of(drawn(column), drawn(column))));
            case 6 -> new InSet(number, inSet());
            case 7 -> new And(new GreaterThanOrEqual(column, drawn(column)), condition(depth - 1));
            case 8 -> new And(condition(depth - 1), new IsNotNull(large));
            default -> random.nextBoolean()
                ? new Or(condition(depth - 1), condition(depth - 1))
                : new And(new Not(condition(depth - 1)), condition(depth - 1));
        };
    }

    private scala.collection.immutable.Set<Object> inSet() {
        return scala.collection.immutable.Set$.MODULE$.<Object>empty().$plus(value()).$plus(value());
    }

    private Literal drawn(Attribute column) {
        return new Literal(value(), column.dataType());
    }

    private Integer value() {
        return EDGES.get(random.nextInt(EDGES.size()));
    }

    private LocalRelation relation() {
        return new LocalRelation(seq(List.of(day, number, large)), rows, false, Option.empty());
    }

    private Seq<InternalRow> rows(int count) {
        StructType type = new StructType()
            .add("d", DataTypes.DateType).add("n", DataTypes.IntegerType).add("l", DataTypes.LongType);
        UnsafeProjection copied = UnsafeProjection$.MODULE$.create(type);
        List<InternalRow> all = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            Object small = random.nextInt(3) == 0 ? value() : (Object) random.nextInt(2_000);
            Object other = random.nextInt(50) == 0 ? value() : (Object) random.nextInt();
            all.add(copied.apply(InternalRow.fromSeq(seq(Arrays.asList(small, other, (long) at)))).copy());
        }
        return cache.add(all);
    }
}
