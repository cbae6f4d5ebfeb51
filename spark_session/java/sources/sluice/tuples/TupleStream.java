package sluice.tuples;

import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.iceberg.types.Type;
import org.apache.iceberg.types.Types;
import org.apache.spark.sql.util.ArrowUtils$;

/** Reads tuples from a stream of Arrow: numbers, days and moments as 64 bits, texts, and decimals. */
final class TupleStream {

    private TupleStream() {}

    /** Returns the tuples of a stream, whose columns have these types of Iceberg. No value may be missing. */
    static TupleSet read(List<String> typeNames, byte[] stream) throws Exception {
        List<? extends Type> types = typeNames.stream().map(Types::fromPrimitiveString).toList();
        List<Object> columns = new ArrayList<>();
        types.forEach(type -> columns.add(SortedValues.isNumber(type) ? new long[0] : new Object[0]));
        int count = 0;
        try (BufferAllocator allocator = ArrowUtils$.MODULE$.rootAllocator()
                    .newChildAllocator("tuples", 0, Long.MAX_VALUE);
                ArrowStreamReader reader = new ArrowStreamReader(new ByteArrayInputStream(stream), allocator)) {
            while (reader.loadNextBatch()) {
                int rows = reader.getVectorSchemaRoot().getRowCount();
                for (int at = 0; at < types.size(); at++) {
                    FieldVector vector = reader.getVectorSchemaRoot().getVector(at);
                    if (vector.getNullCount() > 0) {
                        throw new IllegalArgumentException("a tuple has no value");
                    }
                    columns.set(at, extended(columns.get(at), count, rows, vector));
                }
                count += rows;
            }
        }
        return TupleSet.of(types, columns, count);
    }

    private static Object extended(Object before, int count, int rows, FieldVector vector) {
        if (before instanceof long[] known) {
            long[] numbers = Arrays.copyOf(known, count + rows);
            for (int at = 0; at < rows; at++) {
                numbers[count + at] = ((BigIntVector) vector).get(at);
            }
            return numbers;
        }
        Object[] objects = Arrays.copyOf((Object[]) before, count + rows);
        for (int at = 0; at < rows; at++) {
            objects[count + at] = valueAt(vector, at);
        }
        return objects;
    }

    private static Object valueAt(FieldVector vector, int at) {
        if (vector instanceof VarCharVector texts) {
            return texts.getObject(at).toString();
        }
        return ((DecimalVector) vector).getObject(at);
    }
}
