package sluice.rowgroups;

import static org.apache.iceberg.expressions.Expressions.alwaysTrue;
import static org.apache.iceberg.expressions.Expressions.and;
import static org.apache.iceberg.expressions.Expressions.bucket;
import static org.apache.iceberg.expressions.Expressions.equal;
import static org.apache.iceberg.expressions.Expressions.greaterThan;
import static org.apache.iceberg.expressions.Expressions.in;
import static org.apache.iceberg.expressions.Expressions.isNull;
import static org.apache.iceberg.expressions.Expressions.lessThan;
import static org.apache.iceberg.expressions.Expressions.not;
import static org.apache.iceberg.expressions.Expressions.notIn;
import static org.apache.iceberg.expressions.Expressions.notNull;
import static org.apache.iceberg.expressions.Expressions.or;
import static org.apache.iceberg.expressions.Expressions.startsWith;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.relocated.com.google.common.hash.HashCode;
import org.apache.iceberg.types.Types;
import org.apache.iceberg.types.Types.NestedField;
import org.junit.jupiter.api.Test;

final class FilterHashesTest {

    private final Schema schema = new Schema(
        NestedField.optional(1, "k", Types.IntegerType.get()),
        NestedField.optional(2, "other", Types.IntegerType.get()),
        NestedField.optional(3, "place", Types.StructType.of(
            NestedField.optional(4, "name", Types.StringType.get()))));
    private final List<Expression> different = List.of(
        alwaysTrue(),
        equal("k", 7),
        equal("k", 7L),
        equal("k", 8),
        equal("k", 7f),
        equal("k", 7d),
        equal("k", "7"),
        equal("k", true),
        equal("k", new BigDecimal("7")),
        equal("k", new BigDecimal("7.0")),
        equal("k", ByteBuffer.wrap(new byte[] {7})),
        equal("k", new UUID(0, 7)),
        equal("other", 7),
        lessThan("k", 7),
        greaterThan("k", 7),
        in("k", 7, 8),
        in("k", 7, 8, 9),
        notIn("k", 7, 8),
        in("k", "ab", "c"),
        in("k", "a", "bc"),
        isNull("k"),
        notNull("k"),
        startsWith("place.name", "a"),
        equal("place.name", "a"),
        and(equal("k", 7), notNull("k")),
        and(notNull("k"), equal("k", 7)),
        or(equal("k", 7), notNull("k")),
        not(and(equal("k", 7), notNull("k"))),
        or(equal("k", 7), or(equal("k", 8), equal("k", 9))),
        or(or(equal("k", 7), equal("k", 8)), equal("k", 9)));

    @Test
    void filtersThatDifferHaveOtherHashes() {
        Map<HashCode, Expression> found = new HashMap<>();
        for (Expression filter : different) {
            HashCode hash = hash(filter);
            assertNotNull(hash, filter::toString);
            Expression before = found.put(hash, filter);
            assertNull(before, () -> before + " and " + filter);
        }
    }

    @Test
    void aFilterKeepsItsHashOnItsWayToAnExecutor() throws Exception {
        for (Expression filter : different) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            new ObjectOutputStream(bytes).writeObject(filter);
            Object sent = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
            assertEquals(hash(filter), hash((Expression) sent), filter::toString);
        }
    }

    @Test
    void namesAreThoseOfTheSchema() {
        Schema renamed = new Schema(NestedField.optional(1, "key", Types.IntegerType.get()));
        assertEquals(hash(equal("k", 7)), new FilterHashes(renamed).of(equal("key", 7)));
        assertEquals(hash(equal("k", 7)), hash(equal("K", 7)));
        Schema widened = new Schema(NestedField.optional(1, "k", Types.LongType.get()));
        assertNotEquals(hash(equal("k", 7)), new FilterHashes(widened).of(equal("k", 7)));
        Schema required = new Schema(NestedField.required(1, "k", Types.IntegerType.get()));
        assertNotEquals(hash(isNull("k")), new FilterHashes(required).of(isNull("k")));
    }

    @Test
    void whatIsNotKnownHasNoHash() {
        assertNull(hash(equal("none", 7)));
        assertNull(hash(equal(bucket("k", 4), 1)));
        assertNull(hash(and(equal("k", 7), or(equal("k", 8), equal("none", 7)))));
    }

    private HashCode hash(Expression filter) {
        return new FilterHashes(schema).of(filter);
    }
}
