package sluice.statements;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.last;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.parts;
import static sluice.collections.Lists.seq;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
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
import org.apache.spark.sql.catalyst.expressions.Rollup;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Pivot;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import scala.Option;
import scala.Product;
import scala.Tuple3;
import scala.collection.Seq;

/** The parts of one statement, as the JSON of StatementReader has them. */
final class StatementParts {

    private static final Set<String> EVALUATED_AT_ONCE =
        Set.of("UnresolvedInlineTable", "GlobalLimit", "LocalLimit", "Offset");
    /** The node of a table that is read as a stream: Spark has no class of its own for it. */
    private static final String STREAM = "STREAM";
    /** The node of a version that a subquery chooses: Spark runs it while it resolves names, before all checks. */
    private static final String CHOSEN_VERSION = "TIMESTAMP AS OF (SELECT)";
    private static final double MOST_SETS = 1e18;

    private final ParserInterface parser;
    private final Set<String> functions;
    private final Set<String> nodes = new LinkedHashSet<>();
    private final List<List<String>> relations = new ArrayList<>();
    private final List<List<String>> options = new ArrayList<>();
    private final Set<List<String>> functionNames = new LinkedHashSet<>();
    private final Set<List<String>> tableFunctions = new LinkedHashSet<>();
    private final List<List<String>> formatOptions = new ArrayList<>();
    private final List<Map<String, Object>> calls = new ArrayList<>();
    private final List<Map<String, Object>> strictCalls = new ArrayList<>();
    private final List<Double> groupingSets = new ArrayList<>();
    private final List<Object> recursionLevels = new ArrayList<>();
    private final Set<Integer> positions = new TreeSet<>();

    /** Calls of these functions are listed, by their names in lower case. */
    StatementParts(ParserInterface parser, Set<String> functions) {
        this.parser = parser;
        this.functions = functions;
    }

    /** Adds the parts of a parsed plan. */
    void collect(LogicalPlan plan) throws Exception {
        collect(plan, false);
    }

    /** Returns the parts by their names in the JSON. */
    Map<String, Object> found() {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("nodes", nodes);
        found.put("relations", relations);
        found.put("options", options);
        found.put("functions", functionNames);
        found.put("tableFunctions", tableFunctions);
        found.put("formatOptions", formatOptions);
        found.put("calls", calls);
        found.put("strictCalls", strictCalls);
        found.put("groupingSets", groupingSets);
        found.put("recursionLevels", recursionLevels);
        found.put("positions", positions);
        return found;
    }

    /** Visits everything that the value holds: some nodes keep a plan in a field that is not among their children. */
    private void collect(Object value, boolean isWithinCall) throws Exception {
        boolean isCall = isWithinCall;
        if (value instanceof LogicalPlan plan) {
            isCall = false;
            collectPlan(plan);
        } else if (value instanceof Expression expression) {
            isCall = collectExpression(expression, isWithinCall);
        }
        if (value instanceof scala.collection.Iterable<?> values) {
            collectAll(iterable(values), isCall);
        } else if (value instanceof Product product) {
            collectAll(parts(product), isCall);
        }
    }

    private void collectAll(Iterable<?> values, boolean isWithinCall) throws Exception {
        for (Object value : values) {
            collect(value, isWithinCall);
        }
    }

    private void collectPlan(LogicalPlan plan) {
        nodes.add(plan.getClass().getSimpleName().replace("$", ""));
        if (plan instanceof UnresolvedRelation relation) {
            collectRelation(relation);
        } else if (plan instanceof UnresolvedWith with) {
            for (Tuple3<String, SubqueryAlias, Option<Object>> relation : list(with.cteRelations())) {
                if (relation._3().isDefined()) {
                    recursionLevels.add(relation._3().get());
                }
            }
        } else if (plan instanceof UnresolvedTableValuedFunction function) {
            collectTableFunction(function);
        } else if (plan instanceof RelationTimeTravel travel) {
            if (travel.timestamp().isDefined() && hasSubquery(travel.timestamp().get())) {
                nodes.add(CHOSEN_VERSION);
            }
        }
        if (plan instanceof Pivot pivot) {
            collectStrictAll(pivot.pivotValues());
        } else if (EVALUATED_AT_ONCE.contains(plan.getClass().getSimpleName()) || isRange(plan)) {
            collectStrictAll(plan.expressions());
        }
        if (plan instanceof Aggregate aggregate) {
            collectGroupingSets(aggregate.groupingExpressions());
        }
    }

    private void collectRelation(UnresolvedRelation relation) {
        if (relation.isStreaming()) {
            nodes.add(STREAM);
        }
        relations.add(List.copyOf(list(relation.multipartIdentifier())));
        relation.options().forEach((name, value) -> options.add(Arrays.asList(name, value)));
    }

    private void collectTableFunction(UnresolvedTableValuedFunction function) {
        if (function.isStreaming()) {
            nodes.add(STREAM);
        }
        tableFunctions.add(List.copyOf(list(function.name())));
        calls.add(CallReader.tableFunction(function));
    }

    private static boolean hasSubquery(Expression value) {
        if (value instanceof SubqueryExpression) {
            return true;
        }
        for (Expression child : list(value.children())) {
            if (hasSubquery(child)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isRange(LogicalPlan plan) {
        return plan instanceof UnresolvedTableValuedFunction function
            && "range".equalsIgnoreCase(last(function.name()));
    }

    /** Whether the nodes below belong to a call that is listed as a whole. */
    private boolean collectExpression(Expression value, boolean isWithinCall) throws Exception {
        if (value instanceof UnresolvedFunction function) {
            collectFunction(function);
        } else if (value instanceof UnresolvedGenerator generator) {
            functionNames.add(List.copyOf(list(generator.name().nameParts())));
        } else if (value instanceof ExpressionWithUnresolvedIdentifier named) {
            collectIdentifier(named);
        }
        if (value instanceof PosParameter parameter) {
            positions.add(parameter.pos());
        }
        if (isWithinCall || !functions.contains(CallReader.nameOf(value))) {
            return isWithinCall;
        }
        calls.add(CallReader.tree(value, 0));
        return true;
    }

    private void collectFunction(UnresolvedFunction call) {
        functionNames.add(List.copyOf(list(call.nameParts())));
        formatOptions.addAll(FormatOptions.in(call));
    }

    /** IDENTIFIER(…) names a column or a function. Only a literal is known before the query is analyzed. */
    private void collectIdentifier(ExpressionWithUnresolvedIdentifier value) throws Exception {
        String text = LiteralReader.textOf(value.identifierExpr());
        scala.collection.immutable.Seq<String> name =
            text == null ? seq(List.of("")) : parser.parseMultipartIdentifier(text);
        if (value.exprBuilder().apply(name, value.otherExprs()) instanceof UnresolvedFunction function) {
            collectFunction(function);
        }
    }

    private void collectStrictAll(Seq<Expression> values) {
        for (Expression value : list(values)) {
            collectStrict(value);
        }
    }

    /** Lists growing calls that Spark evaluates while it resolves names: in rows of VALUES, limits, arguments. */
    private void collectStrict(Expression value) {
        if (value instanceof ExpressionWithUnresolvedIdentifier || functions.contains(CallReader.nameOf(value))) {
            strictCalls.add(CallReader.tree(value, 0));
        } else {
            collectStrictAll(value.children());
        }
    }

    /** Counts the sets of each GROUP BY: those of its parts multiply. */
    private void collectGroupingSets(Seq<Expression> grouping) {
        double sets = 1;
        for (Expression part : list(grouping)) {
            if (part instanceof Cube cube) {
                sets *= Math.pow(2, list(cube.groupingSetIndexes()).size());
            } else if (part instanceof Rollup rollup) {
                sets *= list(rollup.groupingSetIndexes()).size() + 1;
            } else if (part instanceof GroupingSets explicit) {
                sets *= list(explicit.groupingSetIndexes()).size();
            }
        }
        groupingSets.add(Math.min(sets, MOST_SETS));
    }
}
