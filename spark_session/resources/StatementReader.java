import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.Token;
import org.apache.spark.sql.catalyst.analysis.ExpressionWithUnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.PosParameter;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Cube;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GroupingSets;
import org.apache.spark.sql.catalyst.expressions.Rollup;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer;
import org.apache.spark.sql.catalyst.parser.UpperCaseCharStream;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Pivot;
import org.apache.spark.sql.catalyst.plans.logical.ScriptTransformation;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;

/**
 * Lists the parts of a statement, as Spark's own parser reads it: the kinds of its plan nodes, including subqueries
 * and common table expressions; the names of the relations that it reads, with their options; and the calls and
 * clauses whose values decide how much Spark makes of a small text.
 *
 * It runs in the driver's JVM because walking a tree from Python costs a call per node, and because in the drawing of
 * a tree, a node cannot be distinguished from a string literal that looks like one.
 */
public final class StatementReader {
    private static final ObjectMapper MAPPER = mapper();
    private static final Set EVALUATED_AT_ONCE = new HashSet(Arrays.asList(new Object[] {
        "UnresolvedInlineTable", "GlobalLimit", "LocalLimit", "Offset"
    }));

    private final Set nodes = new LinkedHashSet();
    private final List relations = new ArrayList();
    private final List options = new ArrayList();
    private final List calls = new ArrayList();
    private final List strictCalls = new ArrayList();
    private final List groupingSets = new ArrayList();
    private final List recursionLevels = new ArrayList();
    private final Set positions = new TreeSet();
    private Set functions = new HashSet();

    /** Calls are nested as deep as CallReader.java reads them: deeper than Jackson writes by default. */
    private static ObjectMapper mapper() {
        ObjectMapper mapper = new ObjectMapper();
        mapper.getFactory().setStreamWriteConstraints(
            StreamWriteConstraints.builder().maxNestingDepth(10000).build());
        return mapper;
    }

    /**
     * Returns JSON: {"nodes": ["Project", …], "relations": [["lake", "tpcds", "item"], …], "options": [["branch",
     * "audit"], …], "calls": […], "strictCalls": […], "groupingSets": […], "recursionLevels": […], "positions": […]};
     * CallReader.java describes a call.
     *
     * Calls are those of the named functions; strict ones are evaluated before the plan is complete.
     */
    public String read(Object parser, String sql, Object functions) throws Exception {
        StatementReader reading = new StatementReader();
        reading.functions = new HashSet((Collection) functions);
        reading.collect(((ParserInterface) parser).parsePlan(sql), false);
        Map found = new LinkedHashMap();
        found.put("nodes", reading.nodes);
        found.put("relations", reading.relations);
        found.put("options", reading.options);
        found.put("calls", reading.calls);
        found.put("strictCalls", reading.strictCalls);
        found.put("groupingSets", reading.groupingSets);
        found.put("recursionLevels", reading.recursionLevels);
        found.put("positions", reading.positions);
        return MAPPER.writeValueAsString(found);
    }

    /**
     * Returns the largest number of columns in a CUBE of the text. Within GROUPING SETS, Spark's parser writes out
     * all its sets, so this is checked before the text is parsed.
     */
    public int largestCube(String sql) {
        SqlBaseLexer lexer = new SqlBaseLexer(new UpperCaseCharStream(CharStreams.fromString(sql)));
        lexer.removeErrorListeners();
        int largest = 0;
        List depths = new ArrayList();
        int depth = 0;
        boolean isAfterCube = false;
        for (Token token = lexer.nextToken(); token.getType() != Token.EOF; token = lexer.nextToken()) {
            int type = token.getType();
            if (token.getChannel() != Token.DEFAULT_CHANNEL) {
                continue;
            }
            if (type == SqlBaseLexer.LEFT_PAREN) {
                depth++;
                if (isAfterCube) {
                    depths.add(new int[] {depth, 1});
                }
            } else if (!depths.isEmpty()) {
                int[] cube = (int[]) depths.get(depths.size() - 1);
                if (type == SqlBaseLexer.COMMA && depth == cube[0]) {
                    cube[1]++;
                } else if (type == SqlBaseLexer.RIGHT_PAREN && depth == cube[0]) {
                    largest = Math.max(largest, cube[1]);
                    depths.remove(depths.size() - 1);
                }
            }
            if (type == SqlBaseLexer.RIGHT_PAREN) {
                depth--;
            }
            isAfterCube = type == SqlBaseLexer.CUBE;
        }
        return largest;
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

    /** Visits everything that the value holds: some nodes keep a plan in a field that is not among their children. */
    private void collect(Object value, boolean isWithinCall) {
        boolean isCall = isWithinCall;
        if (value instanceof LogicalPlan) {
            isCall = false;
            collectPlan((LogicalPlan) value);
        } else if (value instanceof Expression) {
            isCall = collectExpression((Expression) value, isWithinCall);
        }
        if (value instanceof scala.collection.Iterable) {
            collectAll(((scala.collection.Iterable) value).iterator(), isCall);
        } else if (value instanceof TreeNode || value instanceof scala.Option || value instanceof scala.Product) {
            collectAll(((scala.Product) value).productIterator(), isCall);
        }
    }

    private void collectAll(scala.collection.Iterator values, boolean isWithinCall) {
        while (values.hasNext()) {
            collect(values.next(), isWithinCall);
        }
    }

    private void collectPlan(LogicalPlan plan) {
        nodes.add(plan.getClass().getSimpleName().replace("$", ""));
        if (plan instanceof UnresolvedRelation) {
            relations.add(namesOf(((UnresolvedRelation) plan).multipartIdentifier()));
            Iterator entries = ((UnresolvedRelation) plan).options().entrySet().iterator();
            while (entries.hasNext()) {
                Map.Entry entry = (Map.Entry) entries.next();
                options.add(Arrays.asList(new Object[] {entry.getKey(), entry.getValue()}));
            }
        } else if (plan instanceof UnresolvedWith) {
            collectLevels(((UnresolvedWith) plan).cteRelations().iterator());
        } else if (plan instanceof UnresolvedTableValuedFunction) {
            calls.add(CallReader.tableFunction((UnresolvedTableValuedFunction) plan));
        }
        if (plan instanceof Pivot) {
            collectStrictAll(((Pivot) plan).pivotValues().iterator());
        } else if (EVALUATED_AT_ONCE.contains(plan.getClass().getSimpleName()) || isRange(plan)) {
            collectStrictAll(plan.expressions().iterator());
        }
        if (plan instanceof Aggregate) {
            collectGroupingSets(((Aggregate) plan).groupingExpressions().iterator());
        }
    }

    private static boolean isRange(LogicalPlan plan) {
        return plan instanceof UnresolvedTableValuedFunction
            && "range".equalsIgnoreCase((String) ((UnresolvedTableValuedFunction) plan).name().last());
    }

    private void collectStrictAll(scala.collection.Iterator values) {
        while (values.hasNext()) {
            collectStrict((Expression) values.next());
        }
    }

    /** Whether the nodes below belong to a call that is listed as a whole. */
    private boolean collectExpression(Expression value, boolean isWithinCall) {
        if (value instanceof PosParameter) {
            positions.add(Integer.valueOf(((PosParameter) value).pos()));
        }
        if (isWithinCall || !functions.contains(CallReader.nameOf(value))) {
            return isWithinCall;
        }
        calls.add(CallReader.tree(value, 0));
        return true;
    }

    /** Lists growing calls that Spark evaluates while it resolves names: in rows of VALUES, limits, arguments. */
    private void collectStrict(Expression value) {
        if (value instanceof ExpressionWithUnresolvedIdentifier || functions.contains(CallReader.nameOf(value))) {
            strictCalls.add(CallReader.tree(value, 0));
            return;
        }
        scala.collection.Iterator each = value.children().iterator();
        while (each.hasNext()) {
            collectStrict((Expression) each.next());
        }
    }

    /** Counts the sets of each GROUP BY: those of its parts multiply. */
    private void collectGroupingSets(scala.collection.Iterator grouping) {
        double sets = 1;
        while (grouping.hasNext()) {
            Object each = grouping.next();
            if (each instanceof Cube) {
                sets *= Math.pow(2, ((Cube) each).groupingSetIndexes().length());
            } else if (each instanceof Rollup) {
                sets *= ((Rollup) each).groupingSetIndexes().length() + 1;
            } else if (each instanceof GroupingSets) {
                sets *= ((GroupingSets) each).groupingSetIndexes().length();
            }
        }
        groupingSets.add(Double.valueOf(Math.min(sets, 1e18)));
    }

    private void collectLevels(scala.collection.Iterator relations) {
        while (relations.hasNext()) {
            scala.Option levels = (scala.Option) ((scala.Tuple3) relations.next())._3();
            if (levels.isDefined()) {
                recursionLevels.add(levels.get());
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
