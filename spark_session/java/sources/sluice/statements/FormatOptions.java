package sluice.statements;

import static sluice.collections.Lists.last;
import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;

/** The options of functions that read and write CSV, JSON and XML. */
final class FormatOptions {

    private FormatOptions() {}

    /**
     * Returns pairs of the function and the name of an option. Spark may evaluate options while it resolves names, so
     * they must be named in the text: null for a name that is not.
     */
    static List<List<String>> in(UnresolvedFunction call) {
        String function = last(call.nameParts()).toLowerCase(Locale.ROOT);
        int place = placeOf(function);
        List<Expression> arguments = list(call.arguments());
        if (place == 0 || arguments.size() <= place) {
            return List.of();
        }
        if (!(arguments.get(place) instanceof UnresolvedFunction given)
                || !"map".equalsIgnoreCase(last(given.nameParts()))) {
            return List.of(Arrays.asList(function, null));
        }
        List<List<String>> found = new ArrayList<>();
        boolean isName = true;
        for (Expression entry : list(given.arguments())) {
            if (isName) {
                found.add(Arrays.asList(function, LiteralReader.textOf(entry)));
            }
            isName = !isName;
        }
        return found;
    }

    /** Returns where a function takes its options; 0: it has none. */
    private static int placeOf(String function) {
        return switch (function) {
            case "from_csv", "from_json" -> 2;
            case "to_csv", "schema_of_csv", "to_json", "schema_of_json", "to_xml" -> 1;
            default -> 0;
        };
    }
}
