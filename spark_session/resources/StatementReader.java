import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ScriptTransformation;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;

/**
 * Lists what a statement is made of, as Spark's own parser reads it: the kinds of its plan nodes, subqueries
 * and common table expressions included, the names of the relations that it reads, and those of the options
 * that it reads them with.
 *
 * It runs in the driver's JVM because walking a tree from Python costs a call per node, and because the
 * drawing of a tree cannot be told from a string literal that looks like one.
 */
public final class StatementReader {

    /** JSON: {"nodes": ["Project", …], "relations": [["lake", "tpcds", "item"], …], "options": ["branch"]}. */
    public String read(Object parser, String sql) throws Exception {
        Set nodes = new LinkedHashSet();
        List relations = new ArrayList();
        Set options = new LinkedHashSet();
        collect(((ParserInterface) parser).parsePlan(sql), nodes, relations, options);
        Map found = new LinkedHashMap();
        found.put("nodes", nodes);
        found.put("relations", relations);
        found.put("options", options);
        return new ObjectMapper().writeValueAsString(found);
    }

    /** Whether an analyzed query would run a program or a command: a view's text is parsed after the query's. */
    public boolean isRunningCode(Object dataset) {
        return isRunningCodeIn(((Dataset) dataset).queryExecution().analyzed());
    }

    private boolean isRunningCodeIn(LogicalPlan node) {
        if (node instanceof ScriptTransformation || node instanceof Command) {
            return true;
        }
        return isAnyRunningCode(node.children()) || isAnyRunningCode(node.subqueries());
    }

    private boolean isAnyRunningCode(scala.collection.Iterable plans) {
        scala.collection.Iterator each = plans.iterator();
        while (each.hasNext()) {
            if (isRunningCodeIn((LogicalPlan) each.next())) {
                return true;
            }
        }
        return false;
    }

    /** Everything that hangs on the value: some nodes keep a plan in a field that is not among their children. */
    private static void collect(Object value, Set nodes, List relations, Set options) {
        if (value instanceof LogicalPlan) {
            nodes.add(value.getClass().getSimpleName().replace("$", ""));
        }
        if (value instanceof UnresolvedRelation) {
            relations.add(namesOf(((UnresolvedRelation) value).multipartIdentifier()));
            options.addAll(((UnresolvedRelation) value).options().keySet());
        }
        if (value instanceof scala.collection.Iterable) {
            collectAll(((scala.collection.Iterable) value).iterator(), nodes, relations, options);
        } else if (value instanceof TreeNode || value instanceof scala.Option || value instanceof scala.Product) {
            collectAll(((scala.Product) value).productIterator(), nodes, relations, options);
        }
    }

    private static void collectAll(scala.collection.Iterator values, Set nodes, List relations, Set options) {
        while (values.hasNext()) {
            collect(values.next(), nodes, relations, options);
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
