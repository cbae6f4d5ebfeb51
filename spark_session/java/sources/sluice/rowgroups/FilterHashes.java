package sluice.rowgroups;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.UUID;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.And;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.expressions.Literal;
import org.apache.iceberg.expressions.NamedReference;
import org.apache.iceberg.expressions.Not;
import org.apache.iceberg.expressions.Or;
import org.apache.iceberg.expressions.UnboundPredicate;
import org.apache.iceberg.relocated.com.google.common.hash.HashCode;
import org.apache.iceberg.relocated.com.google.common.hash.Hasher;
import org.apache.iceberg.relocated.com.google.common.hash.Hashing;
import org.apache.iceberg.types.TypeUtil;
import org.apache.iceberg.types.Types.NestedField;

/**
 * Hashes of filters, with the ids, types and defaults of their columns, and whether these may be NULL. Two filters with one hash select the same row
 * groups of any file, unless a mapping of names says which columns it has. Nobody can write a filter that has the hash of another one.
 *
 * <p>A hash is kept for each part of a filter, by its identity: filters of one scan's files share parts.
 */
final class FilterHashes {

    private final Schema schema;
    /** Of each nested field. */
    private final Map<Integer, Integer> parents;
    private final Map<Expression, HashCode> known = new IdentityHashMap<>();

    /** `schema` has the columns that the filters name. */
    FilterHashes(Schema schema) {
        this.schema = schema;
        this.parents = TypeUtil.indexParents(schema.asStruct());
    }

    /** Returns the hash of a filter; null if it has a part that is not known. */
    HashCode of(Expression filter) {
        if (known.containsKey(filter)) {
            return known.get(filter);
        }
        HashCode made = made(filter);
        known.put(filter, made);
        return made;
    }

    private HashCode made(Expression filter) {
        if (filter == Expressions.alwaysTrue() || filter == Expressions.alwaysFalse()) {
            return begun(filter).hash();
        }
        if (filter instanceof And both) {
            return combined(filter, both.left(), both.right());
        }
        if (filter instanceof Or either) {
            return combined(filter, either.left(), either.right());
        }
        if (filter instanceof Not opposite) {
            return combined(filter, opposite.child());
        }
        return filter instanceof UnboundPredicate<?> predicate ? ofPredicate(predicate) : null;
    }

    private HashCode combined(Expression filter, Expression... parts) {
        Hasher hasher = begun(filter);
        for (Expression part : parts) {
            HashCode ofPart = of(part);
            if (ofPart == null) {
                return null;
            }
            hasher.putBytes(ofPart.asBytes());
        }
        return hasher.hash();
    }

    private HashCode ofPredicate(UnboundPredicate<?> predicate) {
        if (!(predicate.term() instanceof NamedReference<?> column)) {
            // A function of a column.
            return null;
        }
        NestedField field = schema.findField(column.name());
        if (field == null) {
            field = schema.caseInsensitiveFindField(column.name());
        }
        if (field == null) {
            return null;
        }
        Hasher hasher = begun(predicate).putInt(field.fieldId()).putBoolean(field.isOptional());
        put(hasher, field.type().toString());
        // A file without the column has this value, or none where one of these is NULL.
        if (field.initialDefault() != null && !put(hasher, field.initialDefault())) {
            return null;
        }
        for (Integer above = parents.get(field.fieldId()); above != null; above = parents.get(above)) {
            hasher.putInt(above).putBoolean(schema.findField(above).isOptional());
        }
        if (predicate.literals() != null) {
            for (Literal<?> literal : predicate.literals()) {
                if (!put(hasher, literal.value())) {
                    return null;
                }
            }
        }
        return hasher.hash();
    }

    private static Hasher begun(Expression filter) {
        return Hashing.sha256().newHasher().putInt(filter.op().ordinal());
    }

    /** Adds a value with its type and length, so that no two lists of values add the same bytes. */
    private static boolean put(Hasher hasher, Object value) {
        if (value instanceof Long whole) {
            hasher.putByte((byte) 1).putLong(whole);
        } else if (value instanceof Integer whole) {
            hasher.putByte((byte) 2).putInt(whole);
        } else if (value instanceof CharSequence text) {
            hasher.putByte((byte) 3).putInt(text.length()).putUnencodedChars(text);
        } else if (value instanceof Double number) {
            hasher.putByte((byte) 4).putLong(Double.doubleToRawLongBits(number));
        } else if (value instanceof Float number) {
            hasher.putByte((byte) 5).putInt(Float.floatToRawIntBits(number));
        } else if (value instanceof Boolean truth) {
            hasher.putByte((byte) 6).putBoolean(truth);
        } else if (value instanceof BigDecimal number) {
            byte[] unscaled = number.unscaledValue().toByteArray();
            hasher.putByte((byte) 7).putInt(number.scale()).putInt(unscaled.length).putBytes(unscaled);
        } else if (value instanceof ByteBuffer bytes) {
            hasher.putByte((byte) 8).putInt(bytes.remaining()).putBytes(bytes.duplicate());
        } else if (value instanceof UUID id) {
            hasher.putByte((byte) 9).putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits());
        } else {
            return false;
        }
        return true;
    }
}
