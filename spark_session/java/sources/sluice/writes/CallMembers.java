package sluice.writes;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.UnresolvedProcedure;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedArgumentExpression;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.Call;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampType;

/** The procedure that a CALL names, and its arguments. Nothing of it is looked up or run. */
final class CallMembers {

    private static final String TABLE = "table";

    private CallMembers() {}

    /** Returns the parts of the procedure's name; null for other statements. */
    static List<String> procedureOf(LogicalPlan root) {
        return root instanceof Call call && call.procedure() instanceof UnresolvedProcedure named
            ? list(named.nameParts())
            : null;
    }

    /**
     * Returns the arguments in their order: [{"name": "table", "kind": "text", "value": "shop.item"}, …]. The name of
     * an argument without one is null. Kinds are `text`, `number`, `moment` (microseconds since 1970), `boolean` and
     * `other`, which has no value.
     */
    static List<Map<String, Object>> argumentsOf(LogicalPlan root) {
        List<Map<String, Object>> found = new ArrayList<>();
        if (root instanceof Call call) {
            for (Expression argument : list(call.args())) {
                found.add(argument instanceof NamedArgumentExpression named
                    ? argument(named.key(), named.value())
                    : argument(null, argument));
            }
        }
        return found;
    }

    /** Returns the parts of the argument `table`, without the catalog; null: there is none, or it is no name. */
    static List<String> tableOf(ParserInterface parser, LogicalPlan root) {
        for (Map<String, Object> argument : argumentsOf(root)) {
            if (TABLE.equalsIgnoreCase((String) argument.get("name")) && argument.get("value") instanceof String text) {
                try {
                    return list(parser.parseMultipartIdentifier(text));
                } catch (ParseException failure) {
                    return null;
                }
            }
        }
        return null;
    }

    private static Map<String, Object> argument(String name, Expression value) {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("name", name);
        found.put("kind", "other");
        if (value instanceof Literal literal && literal.value() != null) {
            if (literal.dataType() instanceof StringType) {
                put(found, "text", literal.value().toString());
            } else if (literal.dataType() instanceof IntegralType) {
                put(found, "number", ((Number) literal.value()).longValue());
            } else if (literal.dataType() instanceof TimestampType) {
                put(found, "moment", literal.value());
            } else if (literal.dataType() instanceof BooleanType) {
                put(found, "boolean", literal.value());
            }
        }
        return found;
    }

    private static void put(Map<String, Object> found, String kind, Object value) {
        found.put("kind", kind);
        found.put("value", value);
    }
}
