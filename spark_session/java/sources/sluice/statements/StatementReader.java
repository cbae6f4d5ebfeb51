package sluice.statements;

import static sluice.collections.Lists.last;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

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
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.antlr.v4.runtime.CharStreams;
import org.antlr.v4.runtime.Token;
import org.apache.spark.sql.catalyst.analysis.ExpressionWithUnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.PosParameter;
import org.apache.spark.sql.catalyst.analysis.RelationTimeTravel;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedGenerator;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Cube;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GroupingSets;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Rollup;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.parser.SqlBaseLexer;
import org.apache.spark.sql.catalyst.parser.UpperCaseCharStream;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Pivot;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Lists the parts of a statement, as Spark's own parser reads it: the kinds of its plan nodes, including subqueries
 * and common table expressions; the names of the relations that it reads, with their options; the names of the
 * functions that it calls; and the calls and clauses whose values decide how much Spark makes of a small text.
 *
 * It runs in the driver's JVM because walking a tree from Python costs a call per node, and because in the drawing of
 * a tree, a node cannot be distinguished from a string literal that looks like one.
 */
public final class StatementReader {
    private static final ObjectMapper MAPPER = mapper();
    private static final Set EVALUATED_AT_ONCE = new HashSet(Arrays.asList(new Object[] {
        "UnresolvedInlineTable", "GlobalLimit", "LocalLimit", "Offset"
    }));

    /** The node of a table that is read as a stream: Spark has no class of its own for it. */
    private static final String STREAM = "STREAM";
    /** The node of a version that a subquery chooses: Spark runs it while it resolves names, before all checks. */
    private static final String CHOSEN_VERSION = "TIMESTAMP AS OF (SELECT)";
    /** Where functions of a format take their options. */
    private static final Map OPTION_PLACES = optionPlaces();

    private final Set nodes = new LinkedHashSet();
    private final Set functionNames = new LinkedHashSet();
    private final Set tableFunctions = new LinkedHashSet();
    private final List formatOptions = new ArrayList();
    private final List relations = new ArrayList();
    private final List options = new ArrayList();
    private final List calls = new ArrayList();
    private final List strictCalls = new ArrayList();
    private final List groupingSets = new ArrayList();
    private final List recursionLevels = new ArrayList();
    private final Set positions = new TreeSet();
    private Set functions = new HashSet();
    private ParserInterface parser;

    private static Map optionPlaces() {
        Map places = new LinkedHashMap();
        places.put("from_csv", Integer.valueOf(2));
        places.put("from_json", Integer.valueOf(2));
        String[] others = new String[] {"to_csv", "schema_of_csv", "to_json", "schema_of_json", "to_xml"};
        for (int i = 0; i < others.length; i++) {
            places.put(others[i], Integer.valueOf(1));
        }
        return places;
    }

    /** Calls are nested as deep as CallReader.java reads them: deeper than Jackson writes by default. */
    private static ObjectMapper mapper() {
        ObjectMapper mapper = new ObjectMapper();
        mapper.getFactory().setStreamWriteConstraints(
            StreamWriteConstraints.builder().maxNestingDepth(10000).build());
        return mapper;
    }

    /**
     * Returns JSON: {"nodes": ["Project", …], "relations": [["lake", "tpcds", "item"], …], "options": [["branch",
     * "audit"], …], "functions": [["builtin", "sum"], …], "tableFunctions": [["range"], …], "formatOptions": [["from_csv",
     * "sep"], …], "calls": […], "strictCalls": […], "groupingSets": […], "recursionLevels": […], "positions": […]};
     * CallReader.java describes a call.
     *
     * A function without a part of its name is named while the query is analyzed. So is an option that is null.
     * Calls are those of the named functions; strict ones are evaluated before the plan is complete.
     */
    public String read(Object parser, String sql, Object functions) throws Exception {
        StatementReader reading = new StatementReader();
        reading.functions = new HashSet((Collection) functions);
        reading.parser = (ParserInterface) parser;
        reading.collect(reading.parser.parsePlan(sql), false);
        Map found = new LinkedHashMap();
        found.put("nodes", reading.nodes);
        found.put("relations", reading.relations);
        found.put("options", reading.options);
        found.put("functions", reading.functionNames);
        found.put("tableFunctions", reading.tableFunctions);
        found.put("formatOptions", reading.formatOptions);
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

    /** Visits everything that the value holds: some nodes keep a plan in a field that is not among their children. */
    private void collect(Object value, boolean isWithinCall) throws Exception {
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

    private void collectAll(scala.collection.Iterator values, boolean isWithinCall) throws Exception {
        while (values.hasNext()) {
            collect(values.next(), isWithinCall);
        }
    }

    private void collectPlan(LogicalPlan plan) {
        nodes.add(plan.getClass().getSimpleName().replace("$", ""));
        if (plan instanceof UnresolvedRelation) {
            if (plan.isStreaming()) {
                nodes.add(STREAM);
            }
            relations.add(namesOf(((UnresolvedRelation) plan).multipartIdentifier()));
            Iterator entries = ((UnresolvedRelation) plan).options().entrySet().iterator();
            while (entries.hasNext()) {
                Map.Entry entry = (Map.Entry) entries.next();
                options.add(Arrays.asList(new Object[] {entry.getKey(), entry.getValue()}));
            }
        } else if (plan instanceof UnresolvedWith) {
            collectLevels(((UnresolvedWith) plan).cteRelations().iterator());
        } else if (plan instanceof UnresolvedTableValuedFunction) {
            if (plan.isStreaming()) {
                nodes.add(STREAM);
            }
            tableFunctions.add(namesOf(((UnresolvedTableValuedFunction) plan).name()));
            calls.add(CallReader.tableFunction((UnresolvedTableValuedFunction) plan));
        } else if (plan instanceof RelationTimeTravel) {
            scala.Option moment = ((RelationTimeTravel) plan).timestamp();
            if (moment.isDefined() && hasSubquery((Expression) moment.get())) {
                nodes.add(CHOSEN_VERSION);
            }
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

    private static boolean hasSubquery(Expression value) {
        if (value instanceof SubqueryExpression) {
            return true;
        }
        scala.collection.Iterator each = value.children().iterator();
        while (each.hasNext()) {
            if (hasSubquery((Expression) each.next())) {
                return true;
            }
        }
        return false;
    }

    private static boolean isRange(LogicalPlan plan) {
        return plan instanceof UnresolvedTableValuedFunction
            && "range".equalsIgnoreCase((String) last(((UnresolvedTableValuedFunction) plan).name()));
    }

    private void collectStrictAll(scala.collection.Iterator values) {
        while (values.hasNext()) {
            collectStrict((Expression) values.next());
        }
    }

    /** Whether the nodes below belong to a call that is listed as a whole. */
    private boolean collectExpression(Expression value, boolean isWithinCall) throws Exception {
        if (value instanceof UnresolvedFunction) {
            collectFunction((UnresolvedFunction) value);
        } else if (value instanceof UnresolvedGenerator) {
            functionNames.add(namesOf(((UnresolvedGenerator) value).name().nameParts()));
        } else if (value instanceof ExpressionWithUnresolvedIdentifier) {
            collectIdentifier((ExpressionWithUnresolvedIdentifier) value);
        }
        if (value instanceof PosParameter) {
            positions.add(Integer.valueOf(((PosParameter) value).pos()));
        }
        if (isWithinCall || !functions.contains(CallReader.nameOf(value))) {
            return isWithinCall;
        }
        calls.add(CallReader.tree(value, 0));
        return true;
    }

    private void collectFunction(UnresolvedFunction call) {
        functionNames.add(namesOf(call.nameParts()));
        String name = ((String) last(call.nameParts())).toLowerCase(Locale.ROOT);
        Integer place = (Integer) OPTION_PLACES.get(name);
        if (place != null && list(call.arguments()).size() > place.intValue()) {
            collectFormatOptions(name, (Expression) list(call.arguments()).get(place.intValue()));
        }
    }

    /** Spark may evaluate options while it resolves names, so they must be named in the text. */
    private void collectFormatOptions(String function, Expression options) {
        if (!(options instanceof UnresolvedFunction)
                || !"map".equalsIgnoreCase((String) last(((UnresolvedFunction) options).nameParts()))) {
            formatOptions.add(Arrays.asList(new Object[] {function, null}));
            return;
        }
        scala.collection.Iterator entries = ((UnresolvedFunction) options).arguments().iterator();
        for (int at = 0; entries.hasNext(); at++) {
            Object entry = entries.next();
            if (at % 2 == 0) {
                Object name = entry instanceof Literal ? ((Literal) entry).value() : null;
                formatOptions.add(Arrays.asList(
                    new Object[] {function, name instanceof UTF8String ? name.toString() : null}));
            }
        }
    }

    /** IDENTIFIER(…) names a column or a function. Only a literal is known before the query is analyzed. */
    private void collectIdentifier(ExpressionWithUnresolvedIdentifier value) throws Exception {
        Object name = value.identifierExpr() instanceof Literal ? ((Literal) value.identifierExpr()).value() : null;
        scala.collection.immutable.Seq parts = name instanceof UTF8String
            ? parser.parseMultipartIdentifier(name.toString())
            : seq(List.of(""));
        Object made = value.exprBuilder().apply(parts, value.otherExprs());
        if (made instanceof UnresolvedFunction) {
            collectFunction((UnresolvedFunction) made);
        }
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
                sets *= Math.pow(2, list(((Cube) each).groupingSetIndexes()).size());
            } else if (each instanceof Rollup) {
                sets *= list(((Rollup) each).groupingSetIndexes()).size() + 1;
            } else if (each instanceof GroupingSets) {
                sets *= list(((GroupingSets) each).groupingSetIndexes()).size();
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
