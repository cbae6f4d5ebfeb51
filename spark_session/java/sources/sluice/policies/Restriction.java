package sluice.policies;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.parser.ParserInterface;

/**
 * What a principal sees of a table or view.
 *
 * @param rowFilter null: all rows
 * @param masks expressions by column, in lower case
 * @param isApart whether the query must not see what the view's own conditions leave out
 */
record Restriction(Expression rowFilter, Map<String, Expression> masks, boolean isApart) {

    /** The place of a table or view in a query: the views around it, the outermost first. In lower case. */
    record Place(List<List<String>> path, List<String> name) {}

    /** A restriction as the JSON of TableGuards has it. */
    record Text(
            List<String> name,
            List<List<String>> path,
            String rowFilter,
            Map<String, String> masks,
            boolean isApart) {

        Place place() {
            return new Place(path, name);
        }

        Restriction parsed(ParserInterface parser) throws Exception {
            Map<String, Expression> parsed = new LinkedHashMap<>();
            for (Map.Entry<String, String> mask : masks.entrySet()) {
                parsed.put(mask.getKey(), parser.parseExpression(mask.getValue()));
            }
            Expression filter = rowFilter == null ? null : parser.parseExpression(rowFilter);
            return new Restriction(filter, parsed, isApart);
        }
    }
}
