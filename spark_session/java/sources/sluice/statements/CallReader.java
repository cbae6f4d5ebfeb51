package sluice.statements;

import static sluice.collections.Lists.last;
import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.ExpressionWithUnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.NamedParameter;
import org.apache.spark.sql.catalyst.analysis.PosParameter;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunction;
import org.apache.spark.sql.catalyst.analysis.UnresolvedGenerator;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableValuedFunction;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.LambdaFunction;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedArgumentExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.UnresolvedNamedLambdaVariable;
import scala.collection.Seq;

/**
 * One call as maps and lists, for spark_session/bounds/value_sizes.py: {"f": "repeat", "a": […]} for functions and
 * operators, {"p": "year"} or {"at": 17} for parameters, {"k": "name", "a": [value]} for a named argument, {"l": ["x"],
 * "a": [body]} for a lambda, {"v": "x"} for its variable, {} for values that only the engine knows. LiteralReader
 * describes the others.
 */
public final class CallReader {

    private static final int MAX_DEPTH = 200;

    private CallReader() {}

    /** Returns the function's name in lower case, without its catalog and schema, or the operator's name in Spark. */
    public static String nameOf(Expression value) {
        if (value instanceof UnresolvedFunction function) {
            return last(function.nameParts()).toLowerCase(Locale.ROOT);
        }
        if (value instanceof UnresolvedGenerator generator) {
            return generator.name().funcName().toLowerCase(Locale.ROOT);
        }
        if (value instanceof ExpressionWithUnresolvedIdentifier named) {
            String text = named.identifierExpr() instanceof Literal name ? String.valueOf(name.value()) : "identifier";
            return text.substring(text.lastIndexOf('.') + 1).replace("`", "").toLowerCase(Locale.ROOT);
        }
        return value.prettyName().toLowerCase(Locale.ROOT);
    }

    /** Returns the tree, cut at a depth that nobody writes. The value itself is at `depth`. */
    public static Map<String, Object> tree(Expression value, int depth) {
        if (value instanceof Alias alias) {
            return tree(alias.child(), depth);
        }
        if (value instanceof Literal literal) {
            return LiteralReader.read(literal);
        }
        Map<String, Object> found = new LinkedHashMap<>();
        if (value instanceof NamedParameter parameter) {
            found.put("p", parameter.name());
        } else if (value instanceof PosParameter parameter) {
            found.put("at", parameter.pos());
        } else if (value instanceof NamedArgumentExpression argument) {
            found.put("k", argument.key().toLowerCase(Locale.ROOT));
            found.put("a", trees(argument.children(), depth));
        } else if (value instanceof UnresolvedNamedLambdaVariable variable) {
            found.put("v", variableOf(variable));
        } else if (value instanceof LambdaFunction lambda) {
            found.put("l", variablesOf(lambda));
            found.put("a", List.of(tree(lambda.function(), depth + 1)));
        } else if (!isOpaque(value) && depth < MAX_DEPTH) {
            found.put("f", nameOf(value));
            found.put("a", trees(argumentsOf(value), depth));
        }
        return found;
    }

    /** Returns the tree of a function in the place of a table. */
    public static Map<String, Object> tableFunction(UnresolvedTableValuedFunction value) {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("f", last(value.name()).toLowerCase(Locale.ROOT));
        found.put("a", trees(value.functionArgs(), 0));
        return found;
    }

    private static List<String> variablesOf(LambdaFunction lambda) {
        List<String> names = new ArrayList<>();
        for (NamedExpression argument : list(lambda.arguments())) {
            names.add(argument instanceof UnresolvedNamedLambdaVariable variable ? variableOf(variable) : "");
        }
        return names;
    }

    /** Returns the variable's name, without the fields that are taken from it. */
    private static String variableOf(UnresolvedNamedLambdaVariable variable) {
        return list(variable.nameParts()).get(0).toLowerCase(Locale.ROOT);
    }

    private static boolean isOpaque(Expression value) {
        return value instanceof Attribute || value instanceof SubqueryExpression;
    }

    private static Seq<Expression> argumentsOf(Expression value) {
        if (value instanceof UnresolvedFunction function) {
            return function.arguments();
        }
        return value instanceof ExpressionWithUnresolvedIdentifier named ? named.otherExprs() : value.children();
    }

    private static List<Map<String, Object>> trees(Seq<Expression> values, int depth) {
        List<Map<String, Object>> found = new ArrayList<>();
        for (Expression value : list(values)) {
            found.add(tree(value, depth + 1));
        }
        return found;
    }
}
