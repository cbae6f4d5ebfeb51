package sluice.policies;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.parts;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import scala.Product;

/**
 * Lists the parts of the SQL of a row filter or a mask, as Spark's own parser reads one expression: the kinds of its
 * nodes, also those of plans in it, the functions that it calls, and the names that it reads.
 */
public final class PolicyExpressions {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Set<String> nodes = new LinkedHashSet<>();
    private final Set<List<String>> functions = new LinkedHashSet<>();
    private final Set<List<String>> attributes = new LinkedHashSet<>();

    /** Returns JSON: {"nodes": ["EqualTo", …], "functions": [["upper"], …], "attributes": [["region"], …]}. */
    public String read(ParserInterface parser, String sql) throws Exception {
        PolicyExpressions reading = new PolicyExpressions();
        reading.collect(parser.parseExpression(sql));
        Map<String, Set<?>> found = new LinkedHashMap<>();
        found.put("nodes", reading.nodes);
        found.put("functions", reading.functions);
        found.put("attributes", reading.attributes);
        return MAPPER.writeValueAsString(found);
    }

    /** Whether the analyzed dataset has the same values each time. */
    public boolean isDeterministic(Dataset<?> dataset) {
        return dataset.queryExecution().analyzed().deterministic();
    }

    private void collect(Object value) {
        if (value instanceof UnresolvedFunction function) {
            functions.add(List.copyOf(list(function.nameParts())));
            if (function.isDistinct() || function.filter().isDefined()) {
                nodes.add("Aggregate");
            }
        } else if (value instanceof UnresolvedAttribute attribute) {
            attributes.add(List.copyOf(list(attribute.nameParts())));
        }
        if (value instanceof Expression || value instanceof LogicalPlan) {
            nodes.add(value.getClass().getSimpleName().replace("$", ""));
        }
        if (value instanceof scala.collection.Iterable<?> values) {
            collectAll(iterable(values));
        } else if (value instanceof Product product) {
            collectAll(parts(product));
        }
    }

    private void collectAll(Iterable<?> values) {
        for (Object value : values) {
            collect(value);
        }
    }
}
