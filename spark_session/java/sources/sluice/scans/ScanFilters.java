package sluice.scans;

import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Binder;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.ExpressionParser;
import org.apache.iceberg.expressions.UnboundPredicate;
import org.apache.iceberg.types.Type;
import org.apache.spark.sql.connector.read.Scan;

/**
 * The filters by which an Iceberg scan selects its files, in Iceberg's JSON. Each is true for each row that is read; one
 * that is null is too long. `decimals` are the columns in them whose texts are numbers.
 */
record ScanFilters(List<String> texts, List<String> decimals) {

    private static final ScanFilters NONE = new ScanFilters(List.of(), List.of());
    /** Of all filters of a scan. More are long lists of keys, and a record should stay small. */
    private static final int MAX_CHARACTERS = 65_536;

    /**
     * Returns the filters of the plan, and then those that Spark found while the query ran; none if they cannot be
     * written down.
     */
    static ScanFilters of(Scan scan) {
        try {
            List<Expression> filters = new ArrayList<>();
            for (String name : List.of("filters", "runtimeFilters")) {
                if (PackagePrivate.field(scan, name) instanceof List<?> found) {
                    found.forEach(filter -> filters.add((Expression) filter));
                }
            }
            return filters.isEmpty() ? NONE : new ScanFilters(textsOf(filters), decimalsOf(scan, filters));
        } catch (ReflectiveOperationException | RuntimeException | StackOverflowError e) {
            // What a scan is filtered by is only reported: it must not cost the numbers of what it read. A condition of
            // very many parts is nested as deeply.
            return NONE;
        }
    }

    private static List<String> textsOf(List<Expression> filters) {
        List<String> found = new ArrayList<>();
        int left = MAX_CHARACTERS;
        for (Expression filter : filters) {
            // A million keys are not even written.
            boolean isLong = filter instanceof UnboundPredicate<?> listed
                && listed.op() == Expression.Operation.IN
                && listed.literals().size() > left / 2;
            String text = isLong ? null : ExpressionParser.toJson(filter);
            boolean isShort = text != null && text.length() <= left;
            found.add(isShort ? text : null);
            left -= isShort ? text.length() : 0;
        }
        return found;
    }

    private static List<String> decimalsOf(Scan scan, List<Expression> filters) throws ReflectiveOperationException {
        Schema schema = (Schema) PackagePrivate.field(scan, "schema");
        return Binder.boundReferences(schema.asStruct(), filters, true).stream()
            .filter(id -> schema.findType(id).typeId() == Type.TypeID.DECIMAL)
            .map(schema::findColumnName)
            .toList();
    }
}
