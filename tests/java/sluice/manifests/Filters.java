package sluice.manifests;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.iceberg.Schema;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;

/** Conditions by chance on the columns `k`, `v` (or its later name), `day` and `name`. */
final class Filters {

    private Filters() {}

    static Expression any(Random chosen, Schema schema) {
        return switch (chosen.nextInt(7)) {
            case 0 -> Expressions.and(any(chosen, schema), any(chosen, schema));
            case 1 -> Expressions.or(any(chosen, schema), any(chosen, schema));
            case 2 -> Expressions.not(any(chosen, schema));
            default -> condition(chosen, schema);
        };
    }

    private static Expression condition(Random chosen, Schema schema) {
        return switch (chosen.nextInt(9)) {
            case 0 -> Expressions.greaterThan("k", chosen.nextInt(12));
            case 1 -> Expressions.lessThanOrEqual("k", chosen.nextInt(12));
            case 2 -> Expressions.in("k", numbers(chosen));
            case 3 -> Expressions.greaterThanOrEqual(schema.findColumnName(2), (long) chosen.nextInt(40) - 20);
            case 4 -> Expressions.lessThan(schema.findColumnName(2), (long) chosen.nextInt(40) - 20);
            case 5 -> chosen.nextBoolean() ? Expressions.isNull("k") : Expressions.notNull("k");
            case 6 -> Expressions.startsWith("name", String.valueOf((char) ('a' + chosen.nextInt(4))));
            case 7 -> Expressions.equal("day", "2024-01-0" + (1 + chosen.nextInt(9)));
            default -> chosen.nextInt(4) == 0 ? Expressions.alwaysTrue() : Expressions.notEqual("k", chosen.nextInt(9));
        };
    }

    private static List<Object> numbers(Random chosen) {
        List<Object> found = new ArrayList<>();
        for (int at = 0; at <= chosen.nextInt(4); at++) {
            found.add(chosen.nextInt(12));
        }
        return found;
    }
}
