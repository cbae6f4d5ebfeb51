import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/**
 * Lists what a statement is made of, as Spark's own parser reads it: the kinds of its plan nodes, subqueries
 * and common table expressions included, and the names of the relations that it reads.
 *
 * It runs in the driver's JVM because walking a tree from Python costs a call per node, and because the
 * drawing of a tree cannot be told from a string literal that looks like one.
 */
public final class StatementReader {

    /** JSON: {"nodes": ["Project", …], "relations": [["lake", "tpcds", "item"], …]}. */
    public String read(Object parser, String sql) throws Exception {
        Set nodes = new LinkedHashSet();
        List relations = new ArrayList();
        collect((TreeNode) ((ParserInterface) parser).parsePlan(sql), nodes, relations);
        Map found = new LinkedHashMap();
        found.put("nodes", nodes);
        found.put("relations", relations);
        return new ObjectMapper().writeValueAsString(found);
    }

    private static void collect(TreeNode node, Set nodes, List relations) {
        nodes.add(node.getClass().getSimpleName().replace("$", ""));
        if (node instanceof UnresolvedRelation) {
            relations.add(namesOf(((UnresolvedRelation) node).multipartIdentifier()));
        }
        collectAll(node.children(), nodes, relations);
        collectAll(node.innerChildren(), nodes, relations);
    }

    private static void collectAll(scala.collection.Iterable trees, Set nodes, List relations) {
        scala.collection.Iterator each = trees.iterator();
        while (each.hasNext()) {
            Object tree = each.next();
            if (tree instanceof TreeNode) {
                collect((TreeNode) tree, nodes, relations);
            }
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
