package sluice.refresh;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;
import static sluice.fixtures.Plans.literal;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.HyperLogLogPlusPlus;
import org.apache.spark.sql.catalyst.expressions.aggregate.ImperativeAggregate;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.Decimal$;
import org.apache.spark.sql.types.StringType$;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

final class RegisterAggregateTest {

    private static final double[] DEVIATIONS = {0.39, 0.05, 0.02, 0.005};
    private static final int[] COUNTS = {0, 1, 40, 1_000};
    private static final int MANY = 30_000;
    private static final Random RANDOM = new Random(1);

    @Test
    void anEstimateInStepsIsTheOneOfSpark() {
        compare(DataTypes.LongType, number -> (long) number * 7);
        compare(DataTypes.IntegerType, number -> number);
        compare(DataTypes.DateType, number -> number - 100);
        compare(DataTypes.StringType, number -> UTF8String.fromString("é" + number));
        compare(DataTypes.BooleanType, number -> number % 2 == 0);
        compare(DataTypes.DoubleType, number -> number % 3 == 0 ? -0.0 : number % 5 == 0 ? Double.NaN : number / 8.0);
        compare(DataTypes.createDecimalType(7, 2), number -> decimal(number, 7, 2));
        compare(DataTypes.createDecimalType(38, 10), number -> decimal(number, 38, 10));
        compare(StringType$.MODULE$.apply("UTF8_LCASE"), number ->
            UTF8String.fromString((number % 2 == 0 ? "a" : "A") + number / 2));
    }

    private static void compare(DataType type, IntFunction<Object> value) {
        for (double deviation : DEVIATIONS) {
            for (int count : COUNTS) {
                compare(type, value, deviation, count);
            }
        }
    }

    @Test
    void soIsOneOfManyValues() {
        compare(DataTypes.LongType, number -> (long) number, 0.005, MANY);
        compare(DataTypes.LongType, number -> (long) number, 0.05, MANY);
    }

    /** Estimates once, and in several steps in another order, some of whose values are the same. */
    private static void compare(DataType type, IntFunction<Object> value, double deviation, int count) {
        List<Object> values = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            values.add(number % 11 == 3 ? null : value.apply(number));
        }
        Expression column = new BoundReference(0, type, true);
        Object expected = result(new HyperLogLogPlusPlus(column, deviation, 0, 0), values);
        Collections.shuffle(values, RANDOM);
        int middle = count / 3;
        byte[] first = read(column, deviation, values.subList(0, middle));
        byte[] second = read(column, deviation, values.subList(middle / 2, count));
        byte[] merged = (byte[]) result(
            step(DataTypes.BinaryType, deviation, RegisterAggregate.Step.MERGE), List.of(second, first));
        List<Object> states = new ArrayList<>(List.of(merged, first));
        states.add(null);
        Object found = result(step(DataTypes.BinaryType, deviation, RegisterAggregate.Step.ESTIMATE), states);
        assertEquals(expected, found, () -> type + " " + deviation + " " + count);
        assertArrayEquals(read(column, deviation, values), merged);
    }

    @Test
    void buffersAreMergedWhereverTheyAre() {
        Expression column = new BoundReference(0, DataTypes.LongType, true);
        RegisterAggregate atThree = new RegisterAggregate(column, 0.05, RegisterAggregate.Step.READ, 3, 5);
        InternalRow mine = buffer(atThree, 3);
        InternalRow other = buffer(new RegisterAggregate(column, 0.05, RegisterAggregate.Step.READ, 5, 0), 5);
        for (long number = 0; number < 900; number++) {
            atThree.update(mine, row(number));
            RegisterAggregate atFive = (RegisterAggregate) atThree.withNewMutableAggBufferOffset(5);
            atFive.update(other, row(number + 450));
        }
        atThree.merge(mine, other);
        List<Object> all = new ArrayList<>();
        for (long number = 0; number < 1_350; number++) {
            all.add(number);
        }
        assertArrayEquals(read(column, 0.05, all), (byte[]) atThree.eval(mine));
    }

    @Test
    void fewValuesTakeFewBytes() {
        Expression column = new BoundReference(0, DataTypes.IntegerType, true);
        assertEquals(0, read(column, 0.01, List.of()).length);
        assertEquals(6, read(column, 0.01, List.of(1, 2, 1)).length);
        List<Object> many = new ArrayList<>();
        for (int number = 0; number < MANY * 2; number++) {
            many.add(number);
        }
        assertEquals(1_639 * Long.BYTES, read(column, 0.01, many).length);
    }

    @Test
    void aCopyIsTheSameAndWorksElsewhere() throws Exception {
        Expression column = new BoundReference(0, DataTypes.IntegerType, true);
        RegisterAggregate step = new RegisterAggregate(column, 0.05, RegisterAggregate.Step.READ, 0, 0);
        assertEquals(step, step.clone());
        assertEquals(step.hashCode(), step.clone().hashCode());
        assertEquals(step.canonicalized(), step.withNewChildren(seq(List.of(column))).canonicalized());
        assertNotEquals(step, new RegisterAggregate(column, 0.05, RegisterAggregate.Step.MERGE, 0, 0));
        assertNotEquals(step, new HyperLogLogPlusPlus(column, 0.05, 0, 0));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(step);
        Object copy = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
        assertEquals(step, copy);
        assertArrayEquals(
            read(column, 0.05, List.of(1, 2, 3)), (byte[]) result((ImperativeAggregate) copy, List.of(1, 2, 3)));
    }

    @Test
    void theDeviationIsReadAsSparkReadsIt() {
        Expression column = new BoundReference(0, DataTypes.IntegerType, true);
        RegisterAggregate.Step step = RegisterAggregate.Step.READ;
        assertEquals(0.05, RegisterAggregate.called(step, seq(List.of(column))).productElement(1));
        Expression decimal = literal(new BigDecimal("0.01"));
        assertEquals(0.01, RegisterAggregate.called(step, seq(List.of(column, decimal))).productElement(1));
        Expression text = literal("0.01");
        assertThrows(Exception.class, () -> RegisterAggregate.called(step, seq(List.of(column, text))));
        assertTrue(list(RegisterAggregate.called(step, seq(List.of(column))).children()).contains(column));
    }

    private static Decimal decimal(int number, int precision, int scale) {
        return Decimal$.MODULE$.apply(BigDecimal.valueOf(number, scale)).toPrecision(
            precision, scale, Decimal$.MODULE$.ROUND_HALF_UP(), false, null);
    }

    private static byte[] read(Expression column, double deviation, List<?> values) {
        return (byte[]) result(
            new RegisterAggregate(column, deviation, RegisterAggregate.Step.READ, 0, 0), values);
    }

    private static RegisterAggregate step(DataType type, double deviation, RegisterAggregate.Step step) {
        return new RegisterAggregate(new BoundReference(0, type, true), deviation, step, 0, 0);
    }

    private static Object result(ImperativeAggregate aggregate, List<?> values) {
        InternalRow buffer = buffer(aggregate, 0);
        for (Object value : values) {
            aggregate.update(buffer, row(value));
        }
        return aggregate.eval(buffer);
    }

    private static InternalRow buffer(ImperativeAggregate aggregate, int firstField) {
        int words = list(aggregate.aggBufferAttributes()).size();
        InternalRow buffer = InternalRow.fromSeq(seq(Collections.nCopies(firstField + words, (Object) 0L)));
        aggregate.initialize(buffer);
        return buffer;
    }

    private static InternalRow row(Object value) {
        return InternalRow.fromSeq(seq(Collections.singletonList(value)));
    }
}
