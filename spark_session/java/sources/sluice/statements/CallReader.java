package sluice.statements;

import static sluice.collections.Lists.last;
import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.Arrays;
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
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.expressions.UnresolvedNamedLambdaVariable;
import org.apache.spark.sql.catalyst.util.IntervalUtils;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.unsafe.types.CalendarInterval;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * One call as maps and lists, for spark_session/bounds/value_sizes.py: {"f": "repeat", "a": […]} for functions and
 * operators, {"n": 7} for numbers, {"s": "x", "b": 1} for strings and binaries with their bytes, {"d": micros} for
 * dates and timestamps, {"i": micros} for intervals, {"p": "year"} or {"at": 17} for parameters, {"k": "name", "a":
 * [value]} for a named argument, {"l": ["x"], "a": [body]} for a lambda, {"v": "x"} for its variable, {} for values
 * that only the engine knows.
 */
public final class CallReader {
    private static final int MAX_DEPTH = 200;
    private static final int MAX_CHARACTERS = 200;
    private static final double MICROS_OF_DAY = 86400e6;
    // The shortest month: an interval is never longer than this, so a sequence is never shorter than estimated.
    private static final double DAYS_OF_MONTH = 28;

    /** Returns the function's name in lower case, without its catalog and schema, or the operator's name in Spark. */
    public static String nameOf(Expression value) {
        if (value instanceof UnresolvedFunction) {
            return ((String) last(((UnresolvedFunction) value).nameParts())).toLowerCase(Locale.ROOT);
        }
        if (value instanceof UnresolvedGenerator) {
            return ((UnresolvedGenerator) value).name().funcName().toLowerCase(Locale.ROOT);
        }
        if (value instanceof ExpressionWithUnresolvedIdentifier) {
            Expression name = ((ExpressionWithUnresolvedIdentifier) value).identifierExpr();
            String text = name instanceof Literal ? String.valueOf(((Literal) name).value()) : "identifier";
            return text.substring(text.lastIndexOf('.') + 1).replace("`", "").toLowerCase(Locale.ROOT);
        }
        return value.prettyName().toLowerCase(Locale.ROOT);
    }

    /** Returns the tree, cut at a depth that nobody writes. */
    public static Map tree(Expression value, int depth) {
        Map found = new LinkedHashMap();
        if (value instanceof Literal) {
            put(found, (Literal) value);
        } else if (value instanceof NamedParameter) {
            found.put("p", ((NamedParameter) value).name());
        } else if (value instanceof PosParameter) {
            found.put("at", Integer.valueOf(((PosParameter) value).pos()));
        } else if (value instanceof NamedArgumentExpression) {
            found.put("k", ((NamedArgumentExpression) value).key().toLowerCase(Locale.ROOT));
            found.put("a", trees(((NamedArgumentExpression) value).children(), depth));
        } else if (value instanceof UnresolvedNamedLambdaVariable) {
            found.put("v", variable((UnresolvedNamedLambdaVariable) value));
        } else if (value instanceof LambdaFunction) {
            List names = new ArrayList();
            scala.collection.Iterator each = ((LambdaFunction) value).arguments().iterator();
            while (each.hasNext()) {
                Object name = each.next();
                names.add(name instanceof UnresolvedNamedLambdaVariable
                    ? variable((UnresolvedNamedLambdaVariable) name) : "");
            }
            found.put("l", names);
            found.put("a", Arrays.asList(new Object[] {tree(((LambdaFunction) value).function(), depth + 1)}));
        } else if (value instanceof Alias) {
            return tree(((Alias) value).child(), depth);
        } else if (!isOpaque(value) && depth < MAX_DEPTH) {
            found.put("f", nameOf(value));
            found.put("a", trees(argumentsOf(value), depth));
        }
        return found;
    }

    /** A function in the place of a table. */
    public static Map tableFunction(UnresolvedTableValuedFunction value) {
        Map found = new LinkedHashMap();
        found.put("f", ((String) last(value.name())).toLowerCase(Locale.ROOT));
        found.put("a", trees(value.functionArgs(), 0));
        return found;
    }

    /** Returns its name, without the fields that are taken from it. */
    private static String variable(UnresolvedNamedLambdaVariable value) {
        return ((String) list(value.nameParts()).get(0)).toLowerCase(Locale.ROOT);
    }

    private static boolean isOpaque(Expression value) {
        return value instanceof Attribute || value instanceof SubqueryExpression;
    }

    private static scala.collection.Seq argumentsOf(Expression value) {
        if (value instanceof UnresolvedFunction) {
            return ((UnresolvedFunction) value).arguments();
        }
        if (value instanceof ExpressionWithUnresolvedIdentifier) {
            return ((ExpressionWithUnresolvedIdentifier) value).otherExprs();
        }
        return value.children();
    }

    private static List trees(scala.collection.Seq values, int depth) {
        List found = new ArrayList();
        scala.collection.Iterator each = values.iterator();
        while (each.hasNext()) {
            found.add(tree((Expression) each.next(), depth + 1));
        }
        return found;
    }

    private static void put(Map found, Literal literal) {
        Object value = literal.value();
        if (value instanceof UTF8String) {
            putText(found, (UTF8String) value);
        } else if (value instanceof byte[]) {
            found.put("b", Integer.valueOf(((byte[]) value).length));
        } else if (value instanceof CalendarInterval) {
            found.put("i", Double.valueOf(micros((CalendarInterval) value)));
        } else if (value instanceof Decimal) {
            found.put("n", Double.valueOf(((Decimal) value).toDouble()));
        } else if (value instanceof Number) {
            putNumber(found, literal, ((Number) value).doubleValue());
        }
    }

    private static void putNumber(Map found, Literal literal, double value) {
        if (literal.dataType() instanceof DateType) {
            found.put("d", Double.valueOf(value * MICROS_OF_DAY));
        } else if (literal.dataType() instanceof TimestampType || literal.dataType() instanceof TimestampNTZType) {
            found.put("d", Double.valueOf(value));
        } else if (literal.dataType() instanceof YearMonthIntervalType) {
            found.put("i", Double.valueOf(value * DAYS_OF_MONTH * MICROS_OF_DAY));
        } else if (literal.dataType().typeName().startsWith("interval")) {
            found.put("i", Double.valueOf(value));
        } else if (!Double.isNaN(value) && !Double.isInfinite(value)) {
            found.put("n", Double.valueOf(value));
        }
    }

    private static void putText(Map found, UTF8String text) {
        found.put("b", Integer.valueOf(text.numBytes()));
        found.put("s", text.substring(0, MAX_CHARACTERS).toString());
        if (text.numBytes() <= MAX_CHARACTERS) {
            CalendarInterval interval = IntervalUtils.safeStringToInterval(text);
            if (interval != null) {
                found.put("i", Double.valueOf(micros(interval)));
            }
        }
    }

    private static double micros(CalendarInterval interval) {
        return (interval.months * DAYS_OF_MONTH + interval.days) * MICROS_OF_DAY + interval.microseconds;
    }
}
