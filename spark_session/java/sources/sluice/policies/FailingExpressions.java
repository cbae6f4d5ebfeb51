package sluice.policies;

import static sluice.collections.Lists.list;

import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.MakeDate;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.expressions.Year;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * Says whether Spark may evaluate an expression of a query on rows that a filter below it leaves out, and whether the
 * expression can fail there.
 *
 * <p>Spark orders the conjuncts of merged filters as it likes: those that it infers come first, and those that it
 * cannot give to the source come last. Common parts of them are even evaluated before the first. So `1 / (k - 5) < 9`
 * would say by its error that a hidden row has 5.
 */
public final class FailingExpressions {

    /** These have a value for each value of their operands. What is not here may fail. */
    private static final Set<String> NEVER_FAIL = Set.of(
        // Columns, and the parts of conditions.
        "Alias", "And", "AttributeReference", "CaseWhen", "Coalesce", "EqualNullSafe", "EqualTo", "GreaterThan",
        "GreaterThanOrEqual", "If", "In", "InSet", "InSubquery", "IsNaN", "IsNotNull", "IsNull", "LessThan",
        "LessThanOrEqual", "Literal", "NaNvl", "Not", "Or", "OuterReference", "SortOrder",
        // Expressions with a name for a part that occurs in them twice.
        "CommonExpressionDef", "CommonExpressionRef", "With",
        // Queries in an expression: their own expressions are checked, too.
        "Exists", "LateralSubquery", "ListQuery", "ScalarSubquery",
        // Texts.
        "Ascii", "BitLength", "Concat", "ConcatWs", "Contains", "EndsWith", "InitCap", "Length", "Lower", "OctetLength",
        "StartsWith", "StringInstr", "StringLocate", "StringReplace", "StringTranslate", "StringTrim", "StringTrimLeft",
        "StringTrimRight", "Substring", "Upper",
        // Hashes.
        "Crc32", "Hex", "Md5", "Murmur3Hash", "Sha1", "Sha2", "XxHash64",
        // Parts of dates and times, and of values.
        "DayOfMonth", "DayOfWeek", "DayOfYear", "GetStructField", "Hour", "Minute", "Month", "Quarter", "Second",
        "WeekDay", "WeekOfYear", "Year");
    /** These overflow or divide by zero, except that floating-point numbers have values for it. */
    private static final Set<String> ARITHMETIC =
        Set.of("Abs", "Add", "Multiply", "Subtract", "UnaryMinus", "UnaryPositive");
    /** Their values exist only for rows that went through all filters below, and no condition moves below them. */
    private static final Set<String> OF_MANY_ROWS = Set.of("AggregateExpression", "WindowExpression");
    /** No condition is evaluated below these because of what they are. */
    private static final Set<String> WITHOUT_CONDITION = Set.of(
        "Aggregate", "Distinct", "GlobalLimit", "LocalLimit", "Project", "Sort", "SubqueryAlias", "View", "Window");

    private FailingExpressions() {}

    /** Whether a condition of the analyzed query can fail on a row that lies below another filter. */
    public static boolean isAnyIn(LogicalPlan plan) {
        return isAnyIn(plan, false);
    }

    /** A condition above a node may move below it, with the node's expressions in place of its columns. */
    private static boolean isAnyIn(LogicalPlan plan, boolean isUnderCondition) {
        boolean isCondition = isUnderCondition || !WITHOUT_CONDITION.contains(plan.getClass().getSimpleName());
        for (Expression expression : list(plan.expressions())) {
            if (isCondition ? canFail(expression) : hasFailingQuery(expression)) {
                return true;
            }
        }
        for (TreeNode<?> inner : list(plan.innerChildren())) {
            if (inner instanceof LogicalPlan innerPlan && isAnyIn(innerPlan, true)) {
                return true;
            }
        }
        for (LogicalPlan child : list(plan.children())) {
            if (isAnyIn(child, isCondition)) {
                return true;
            }
        }
        return false;
    }

    /** Whether the expression may have no value for some values of its columns. */
    public static boolean canFail(Expression expression) {
        String kind = expression.getClass().getSimpleName();
        if (OF_MANY_ROWS.contains(kind)) {
            return hasFailingQuery(expression);
        }
        if (expression instanceof RuntimeReplaceable replaced) {
            // Such as BETWEEN, which is two comparisons.
            return canFail(replaced.replacement());
        }
        // One that reads no row fails for every row or for none.
        return (!expression.foldable() && !isSafe(expression, kind)) || isInParts(expression, true);
    }

    private static boolean isSafe(Expression expression, String kind) {
        if (expression instanceof Cast cast) {
            return isSafeCast(cast.child().dataType(), cast.dataType());
        }
        if (expression instanceof Like like) {
            // A pattern that is not the query's own may end with the character that escapes.
            return like.right().foldable();
        }
        if (expression instanceof MakeDate date) {
            // The mask that shows only the year.
            return date.year() instanceof Year && date.month().foldable() && date.day().foldable();
        }
        return NEVER_FAIL.contains(kind) || (ARITHMETIC.contains(kind) && isFloating(expression.dataType()));
    }

    private static boolean isSafeCast(DataType from, DataType to) {
        // A date may be later than the last timestamp.
        boolean isToTime = from instanceof DateType && (to instanceof TimestampType || to instanceof TimestampNTZType);
        boolean isToBytes = from instanceof StringType && to instanceof BinaryType;
        return isToBytes || (Cast.canUpCast(from, to) && !isToTime);
    }

    private static boolean isFloating(DataType type) {
        return type instanceof DoubleType || type instanceof FloatType;
    }

    /** Conditions of queries in an expression are evaluated over their own tables. */
    private static boolean hasFailingQuery(Expression expression) {
        return isInParts(expression, false);
    }

    private static boolean isInParts(Expression expression, boolean isCondition) {
        if (expression instanceof PlanExpression<?> query && isAnyIn((LogicalPlan) query.plan(), true)) {
            return true;
        }
        for (Expression child : list(expression.children())) {
            if (isCondition ? canFail(child) : hasFailingQuery(child)) {
                return true;
            }
        }
        return false;
    }
}
