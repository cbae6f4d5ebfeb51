package sluice.policies;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
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
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;

/**
 * Lists the parts of the SQL of a row filter or a mask, as Spark's own parser reads one expression: the kinds of its
 * nodes, also those of plans in it, the functions that it calls, and the names that it reads.
 */
public final class PolicyExpressions {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final Set nodes = new LinkedHashSet();
    private final Set functions = new LinkedHashSet();
    private final Set attributes = new LinkedHashSet();

    /** Returns JSON: {"nodes": ["EqualTo", …], "functions": [["upper"], …], "attributes": [["region"], …]}. */
    public String read(Object parser, String sql) throws Exception {
        PolicyExpressions reading = new PolicyExpressions();
        reading.collect(((ParserInterface) parser).parseExpression(sql));
        Map found = new LinkedHashMap();
        found.put("nodes", reading.nodes);
        found.put("functions", reading.functions);
        found.put("attributes", reading.attributes);
        return MAPPER.writeValueAsString(found);
    }

    /** Whether the analyzed dataset has the same values each time. */
    public boolean isDeterministic(Object dataset) {
        return ((Dataset) dataset).queryExecution().analyzed().deterministic();
    }

    private void collect(Object value) {
        if (value instanceof UnresolvedFunction) {
            UnresolvedFunction function = (UnresolvedFunction) value;
            functions.add(namesOf(function.nameParts()));
            if (function.isDistinct() || function.filter().isDefined()) {
                nodes.add("Aggregate");
            }
        } else if (value instanceof UnresolvedAttribute) {
            attributes.add(namesOf(((UnresolvedAttribute) value).nameParts()));
        }
        if (value instanceof Expression || value instanceof LogicalPlan) {
            nodes.add(value.getClass().getSimpleName().replace("$", ""));
        }
        if (value instanceof scala.collection.Iterable) {
            collectAll(((scala.collection.Iterable) value).iterator());
        } else if (value instanceof TreeNode || value instanceof scala.Option || value instanceof scala.Product) {
            collectAll(((scala.Product) value).productIterator());
        }
    }

    private void collectAll(scala.collection.Iterator values) {
        while (values.hasNext()) {
            collect(values.next());
        }
    }

    private static List namesOf(scala.collection.Iterable parts) {
        List names = new ArrayList();
        scala.collection.Iterator each = parts.iterator();
        while (each.hasNext()) {
            names.add(each.next().toString());
        }
        return names;
    }
}
