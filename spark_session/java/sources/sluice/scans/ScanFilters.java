package sluice.scans;

import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.ExpressionParser;
import org.apache.spark.sql.connector.read.Scan;

/** Writes down the filters by which an Iceberg scan selects its files. */
final class ScanFilters {

    /** Longer filters are long lists of keys, and a record should stay small. */
    private static final int MAX_CHARACTERS = 65_536;

    private ScanFilters() {}

    /**
     * Returns the filters of a scan in Iceberg's JSON: those of the plan, and those that Spark found while the query
     * ran. All of them hold for each row that is read. One that is too long, or has no JSON, is null.
     */
    static List<String> of(Scan scan) throws ReflectiveOperationException {
        List<String> found = new ArrayList<>();
        for (String name : List.of("filters", "runtimeFilters")) {
            if (PackagePrivate.field(scan, name) instanceof List<?> filters) {
                filters.forEach(filter -> found.add(json((Expression) filter)));
            }
        }
        return found;
    }

    private static String json(Expression filter) {
        try {
            String json = ExpressionParser.toJson(filter);
            return json.length() > MAX_CHARACTERS ? null : json;
        } catch (RuntimeException e) {
            // What a scan is filtered by is only reported: it must not cost the numbers of what it read.
            return null;
        }
    }
}
