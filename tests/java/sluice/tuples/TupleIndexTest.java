package sluice.tuples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.DataFiles;
import org.apache.iceberg.FileFormat;
import org.apache.iceberg.Metrics;
import org.apache.iceberg.PartitionData;
import org.apache.iceberg.PartitionField;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Evaluator;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.InclusiveMetricsEvaluator;
import org.apache.iceberg.expressions.Projections;
import org.apache.iceberg.transforms.Transform;
import org.apache.iceberg.types.Comparators;
import org.apache.iceberg.types.Conversions;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.Test;

final class TupleIndexTest {

    private static final int ROUNDS = 60;
    private static final int FILES = 60;
    private static final Schema SCHEMA = new Schema(
        NestedField.optional(1, "i", Types.IntegerType.get()),
        NestedField.optional(2, "l", Types.LongType.get()),
        NestedField.optional(3, "d", Types.DateType.get()),
        NestedField.optional(4, "t", Types.TimestampType.withZone()),
        NestedField.optional(5, "s", Types.StringType.get()),
        NestedField.optional(6, "p", Types.DecimalType.of(9, 2)),
        NestedField.optional(7, "b", Types.BooleanType.get()));
    private static final long HOUR_MICROS = 3_600_000_000L;

    /** Iceberg decides for each tuple alone, by the projected filter and by the bounds. */
    @Test
    void aFileIsKeptExactlyIfIcebergKeepsItForOneTuple() {
        Random chosen = new Random(5);
        int kept = 0;
        for (int round = 0; round < ROUNDS; round++) {
            PartitionSpec spec = spec(chosen);
            List<NestedField> columns = columns(chosen);
            List<Object[]> tuples = tuples(chosen, columns, 1 + chosen.nextInt(round % 5 == 0 ? 300 : 30));
            TupleIndex index = index(columns, tuples, spec);
            List<Expression> alone = tuples.stream().map(tuple -> equalities(columns, tuple)).toList();
            for (int at = 0; at < FILES; at++) {
                DataFile file = file(spec, chosen);
                boolean expected = alone.stream().anyMatch(each -> mayHaveRows(file, spec, each));
                kept += expected ? 1 : 0;
                assertEquals(expected, index.mayHaveRows(file), () -> spec + " " + columns + " " + file);
            }
        }
        assertTrue(kept > ROUNDS && kept < ROUNDS * FILES / 2, "kept " + kept);
    }

    @Test
    void aFileOfARowWithATupleIsNeverLeftOut() {
        Random chosen = new Random(6);
        for (int round = 0; round < ROUNDS; round++) {
            PartitionSpec spec = spec(chosen);
            List<NestedField> columns = columns(chosen);
            List<Object[]> tuples = tuples(chosen, columns, 50);
            TupleIndex index = index(columns, tuples, spec);
            for (Object[] tuple : tuples) {
                assertTrue(index.mayHaveRows(fileWith(columns, tuple, spec, chosen)), spec::toString);
            }
        }
    }

    /** With as many tuples, each file is still decided, and none by the bound of steps. */
    @Test
    void manyTuplesAreSearchedExactly() {
        Random chosen = new Random(7);
        int count = 200_000;
        long[] first = new long[count];
        long[] second = new long[count];
        for (int at = 0; at < count; at++) {
            first[at] = chosen.nextInt(1_000_000);
            second[at] = chosen.nextInt(1_000_000);
        }
        List<NestedField> columns = List.of(SCHEMA.findField("l"), SCHEMA.findField("i"));
        TupleSet set = TupleSet.of(columns.stream().map(NestedField::type).toList(), List.of(first, second), count);
        TupleIndex index = new TupleIndex(set, List.of(2, 1), PartitionSpec.unpartitioned());
        int kept = 0;
        for (int at = 0; at < 200; at++) {
            long low = chosen.nextInt(1_000_000);
            long least = chosen.nextInt(1_000_000);
            long high = low + 1000;
            long most = least + 3000;
            boolean expected = false;
            for (int tuple = 0; tuple < count && !expected; tuple++) {
                expected = first[tuple] >= low && first[tuple] <= high && second[tuple] >= least && second[tuple] <= most;
            }
            Map<Integer, ByteBuffer> lower = new HashMap<>();
            Map<Integer, ByteBuffer> upper = new HashMap<>();
            lower.put(2, Conversions.toByteBuffer(Types.LongType.get(), low));
            upper.put(2, Conversions.toByteBuffer(Types.LongType.get(), high));
            lower.put(1, Conversions.toByteBuffer(Types.IntegerType.get(), (int) least));
            upper.put(1, Conversions.toByteBuffer(Types.IntegerType.get(), (int) most));
            DataFile file = file(PartitionSpec.unpartitioned(), null, 5, Map.of(), Map.of(), lower, upper);
            assertEquals(expected, index.mayHaveRows(file));
            kept += expected ? 1 : 0;
        }
        assertTrue(kept > 20 && kept < 180, "kept " + kept);
    }

    @Test
    void aPartitionOfNullsAndAFileOfNullsHaveNone() {
        PartitionSpec spec = PartitionSpec.builderFor(SCHEMA).identity("i").build();
        List<NestedField> columns = List.of(SCHEMA.findField("i"), SCHEMA.findField("s"));
        TupleIndex index = index(columns, List.of(new Object[] {1, "a"}, new Object[] {2, "b"}), spec);
        PartitionData partition = new PartitionData(spec.partitionType());
        assertEquals(false, index.mayHaveRows(file(spec, partition, 5, Map.of(), Map.of(), Map.of(), Map.of())));
        PartitionData second = new PartitionData(spec.partitionType());
        second.set(0, 2);
        assertTrue(index.mayHaveRows(file(spec, second, 5, Map.of(), Map.of(), Map.of(), Map.of())));
        Map<Integer, Long> five = Map.of(5, 5L);
        assertEquals(false, index.mayHaveRows(file(spec, second, 5, five, five, Map.of(), Map.of())));
        assertEquals(false, index.mayHaveRows(file(spec, second, 0, Map.of(), Map.of(), Map.of(), Map.of())));
    }

    private static TupleIndex index(List<NestedField> columns, List<Object[]> tuples, PartitionSpec spec) {
        List<Object> values = new ArrayList<>();
        for (int at = 0; at < columns.size(); at++) {
            int column = at;
            Object[] objects = tuples.stream().map(tuple -> tuple[column]).toArray();
            values.add(SortedValues.isNumber(columns.get(at).type()) ? numbers(objects) : objects);
        }
        TupleSet set = TupleSet.of(columns.stream().map(NestedField::type).toList(), values, tuples.size());
        return new TupleIndex(set, columns.stream().map(NestedField::fieldId).toList(), spec);
    }

    private static long[] numbers(Object[] objects) {
        long[] found = new long[objects.length];
        for (int at = 0; at < found.length; at++) {
            found[at] = objects[at] instanceof Boolean is ? (is ? 1 : 0) : ((Number) objects[at]).longValue();
        }
        return found;
    }

    private static boolean mayHaveRows(DataFile file, PartitionSpec spec, Expression filter) {
        Expression projected = Projections.inclusive(spec, true).project(filter);
        return new Evaluator(spec.partitionType(), projected, true).eval(file.partition())
            && new InclusiveMetricsEvaluator(spec.schema(), filter, true).eval(file);
    }

    private static Expression equalities(List<NestedField> columns, Object[] tuple) {
        Expression found = Expressions.alwaysTrue();
        for (int at = 0; at < tuple.length; at++) {
            found = Expressions.and(found, Expressions.equal(columns.get(at).name(), tuple[at]));
        }
        return found;
    }

    private static List<NestedField> columns(Random chosen) {
        List<NestedField> found = new ArrayList<>(SCHEMA.columns());
        while (found.size() > 4 || found.size() > 2 && chosen.nextBoolean()) {
            found.remove(chosen.nextInt(found.size()));
        }
        return found;
    }

    private static PartitionSpec spec(Random chosen) {
        while (true) {
            PartitionSpec.Builder builder = PartitionSpec.builderFor(SCHEMA);
            try {
                for (int at = chosen.nextInt(4); at > 0; at--) {
                    addField(builder, "f" + at, chosen);
                }
                return builder.build();
            } catch (IllegalArgumentException redundant) {
                // Two fields are alike.
                continue;
            }
        }
    }

    private static void addField(PartitionSpec.Builder builder, String name, Random chosen) {
        switch (chosen.nextInt(14)) {
            case 0 -> builder.identity("i", name);
            case 1 -> builder.bucket("l", 3, name);
            case 2 -> builder.truncate("i", 3, name);
            case 3 -> builder.day("d", name);
            case 4 -> builder.month("d", name);
            case 5 -> builder.year("d", name);
            case 6 -> builder.hour("t", name);
            case 7 -> builder.day("t", name);
            case 8 -> builder.truncate("s", 1, name);
            case 9 -> builder.bucket("s", 2, name);
            case 10 -> builder.identity("p", name);
            case 11 -> builder.truncate("p", 50, name);
            case 12 -> builder.identity("b", name);
            default -> builder.alwaysNull("l", name);
        }
    }

    private static List<Object[]> tuples(Random chosen, List<NestedField> columns, int count) {
        List<Object[]> found = new ArrayList<>();
        for (int at = 0; at < count; at++) {
            found.add(columns.stream().map(column -> value(column.type(), chosen)).toArray());
        }
        return found;
    }

    /** Returns a value, often one before 1970. */
    private static Object value(Type type, Random chosen) {
        return switch (type.typeId()) {
            case INTEGER -> (chosen.nextInt(20) - 10);
            case LONG -> (long) (chosen.nextInt(40) - 20);
            case DATE -> (chosen.nextInt(1500) - 750);
            case TIMESTAMP -> ((chosen.nextInt(200) - 100) * HOUR_MICROS / 2);
            case DECIMAL -> BigDecimal.valueOf(chosen.nextInt(300) - 150, 2);
            case BOOLEAN -> chosen.nextBoolean();
            default -> (String.valueOf((char) ('a' + chosen.nextInt(5))) + (char) ('x' + chosen.nextInt(3)));
        };
    }

    private static DataFile file(PartitionSpec spec, Random chosen) {
        PartitionData partition = new PartitionData(spec.partitionType());
        Object[] row = SCHEMA.columns().stream().map(column -> value(column.type(), chosen)).toArray();
        for (int at = 0; at < spec.fields().size(); at++) {
            partition.set(at, chosen.nextInt(8) == 0 ? null : transformed(spec.fields().get(at), row, chosen));
        }
        return file(spec, chosen, partition, null);
    }

    /** Returns a file that has a row with this tuple, as a writer of the table writes it. */
    private static DataFile fileWith(List<NestedField> columns, Object[] tuple, PartitionSpec spec, Random chosen) {
        Object[] row = SCHEMA.columns().stream().map(column -> value(column.type(), chosen)).toArray();
        for (int at = 0; at < tuple.length; at++) {
            row[columns.get(at).fieldId() - 1] = tuple[at];
        }
        PartitionData partition = new PartitionData(spec.partitionType());
        for (int at = 0; at < spec.fields().size(); at++) {
            partition.set(at, transformed(spec.fields().get(at), row, null));
        }
        return file(spec, chosen, partition, row);
    }

    private static Object transformed(PartitionField field, Object[] row, Random chosen) {
        Object found = apply(field.transform(), SCHEMA.findType(field.sourceId()), row[field.sourceId() - 1]);
        // Old writers have put values before 1970 into the next partition.
        boolean isOld = chosen != null && found instanceof Integer value && value < 0 && chosen.nextInt(4) == 0;
        boolean isOfTime = !field.transform().isIdentity() && isTime(SCHEMA.findType(field.sourceId()));
        return isOld && isOfTime ? (Integer) found + 1 : found;
    }

    private static boolean isTime(Type type) {
        return type.typeId() == Type.TypeID.DATE || type.typeId() == Type.TypeID.TIMESTAMP;
    }

    @SuppressWarnings("unchecked")
    private static <S> Object apply(Transform<?, ?> transform, Type type, Object value) {
        return ((Transform<S, ?>) transform).bind(type).apply((S) value);
    }

    /** Returns a file with bounds by chance; they hold the row, if there is one. */
    private static DataFile file(PartitionSpec spec, Random chosen, PartitionData partition, Object[] row) {
        Map<Integer, Long> values = new HashMap<>();
        Map<Integer, Long> nulls = new HashMap<>();
        Map<Integer, ByteBuffer> lower = new HashMap<>();
        Map<Integer, ByteBuffer> upper = new HashMap<>();
        long rows = row == null && chosen.nextInt(20) == 0 ? 0 : 1 + chosen.nextInt(9);
        for (NestedField column : SCHEMA.columns()) {
            if (chosen.nextInt(5) == 0) {
                continue;
            }
            boolean isNull = row == null && chosen.nextInt(10) == 0;
            values.put(column.fieldId(), rows);
            nulls.put(column.fieldId(), isNull ? rows : 0L);
            if (!isNull) {
                Object one = row == null ? value(column.type(), chosen) : row[column.fieldId() - 1];
                Object other = value(column.type(), chosen);
                boolean isLess = compare(column.type(), one, other) < 0;
                if (chosen.nextInt(6) > 0) {
                    lower.put(column.fieldId(), Conversions.toByteBuffer(column.type(), isLess ? one : other));
                }
                if (chosen.nextInt(6) > 0) {
                    upper.put(column.fieldId(), Conversions.toByteBuffer(column.type(), isLess ? other : one));
                }
            }
        }
        return file(spec, partition, rows, values, nulls, lower, upper);
    }

    private static int compare(Type type, Object one, Object other) {
        return Comparators.<Object>forType(type.asPrimitiveType()).compare(one, other);
    }

    private static DataFile file(
            PartitionSpec spec,
            PartitionData partition,
            long rows,
            Map<Integer, Long> values,
            Map<Integer, Long> nulls,
            Map<Integer, ByteBuffer> lower,
            Map<Integer, ByteBuffer> upper) {
        DataFiles.Builder builder = DataFiles.builder(spec)
            .withPath("/data/file.parquet")
            .withFormat(FileFormat.PARQUET)
            .withFileSizeInBytes(100)
            .withMetrics(new Metrics(rows, Map.of(), values, nulls, Map.of(), lower, upper));
        return (partition == null ? builder : builder.withPartition(partition)).build();
    }
}
