package sluice.reuse;

import java.util.Arrays;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.CharType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.VarcharType;
import org.apache.spark.sql.types.VariantType;

/** Finds casts of texts to times that may use the present. */
final class TextsAsTimes {

    /** A text with the date of a moment. Without a date, Spark adds today's. */
    private static final String WITH_DATE = "[+-]?[0-9]{4,}(-.*)?";

    private TextsAsTimes() {}

    /** Whether Spark may read a constant such as 'today' and 'now', or complete a timestamp that has no date. */
    static boolean mayReadPresent(Cast cast) {
        boolean isTimestamp = has(cast.dataType(), TimestampType.class);
        boolean isTime = isTimestamp || has(cast.dataType(), DateType.class, TimestampNTZType.class);
        if (!isTime || !isText(cast.child().dataType())) {
            return false;
        }
        if (cast.child() instanceof Literal literal) {
            Object value = literal.value();
            return value != null && !value.toString().trim().matches(WITH_DATE);
        }
        return isTimestamp || cast.child().foldable();
    }

    private static boolean isText(DataType type) {
        return has(type, StringType.class, CharType.class, VarcharType.class, VariantType.class);
    }

    /** Whether the type, or one within it, is of one of these classes. */
    private static boolean has(DataType type, Class<?>... wanted) {
        return Arrays.stream(wanted).anyMatch(each -> each.isInstance(type))
            || within(type).anyMatch(inner -> has(inner, wanted));
    }

    private static Stream<DataType> within(DataType type) {
        if (type instanceof ArrayType array) {
            return Stream.of(array.elementType());
        }
        if (type instanceof MapType map) {
            return Stream.of(map.keyType(), map.valueType());
        }
        return type instanceof StructType struct
            ? Arrays.stream(struct.fields()).map(StructField::dataType)
            : Stream.empty();
    }
}
