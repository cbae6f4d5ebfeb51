package sluice.plans;

import static sluice.collections.Lists.seq;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser$;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;
import scala.Option;

/** Plans and expressions for tests, without a session. */
public final class Plans {

    private Plans() {}

    /** Returns a new column. */
    public static Attribute column(String name, DataType type) {
        return new AttributeReference(
            name, type, true, Metadata.empty(), NamedExpression$.MODULE$.newExprId(), seq(List.of()));
    }

    /** Returns an expression under a name. */
    public static Alias named(String name, Expression value) {
        return new Alias(
            value, name, NamedExpression$.MODULE$.newExprId(), seq(List.of()), Option.empty(), seq(List.of()));
    }

    /** Returns a literal of a Java value. */
    public static Expression literal(Object value) {
        return Literal$.MODULE$.apply(value);
    }

    /** Returns rows in memory. */
    public static LocalRelation rows(List<Attribute> columns, InternalRow... rows) {
        return new LocalRelation(seq(columns), seq(Arrays.asList(rows)), false, Option.empty());
    }

    /** Returns a projection. */
    public static Project project(LogicalPlan child, NamedExpression... columns) {
        return new Project(seq(List.of(columns)), child);
    }

    /** Returns a query as Spark's parser reads it. */
    public static LogicalPlan parsed(String sql) {
        try {
            return CatalystSqlParser$.MODULE$.parsePlan(sql);
        } catch (Exception fault) {
            throw new AssertionError(fault);
        }
    }

    /** Returns an expression as Spark's parser reads it. */
    public static Expression parsedExpression(String sql) {
        try {
            return CatalystSqlParser$.MODULE$.parseExpression(sql);
        } catch (Exception fault) {
            throw new AssertionError(fault);
        }
    }

    /** Returns a value as JSON. */
    public static String json(Object value) {
        try {
            return new ObjectMapper().writeValueAsString(value);
        } catch (JsonProcessingException fault) {
            throw new AssertionError(fault);
        }
    }
}
