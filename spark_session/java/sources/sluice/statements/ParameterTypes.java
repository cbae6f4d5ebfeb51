package sluice.statements;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.optional;
import static sluice.collections.Lists.parts;
import static sluice.collections.Lists.seq;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.analysis.NameParameterizedQuery;
import org.apache.spark.sql.catalyst.analysis.NamedParameter;
import org.apache.spark.sql.catalyst.analysis.PosParameter;
import org.apache.spark.sql.catalyst.analysis.PosParameterizedQuery;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.NullType$;
import scala.Product;

/**
 * Analyzes queries without the values of their parameters, and finds the types that Spark's analyzer gives to them.
 *
 * <p>A parameter without a value is a NULL without a type. Where it stands in a place of another type, the analyzer
 * casts it to that type.
 */
public final class ParameterTypes {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final TreeNodeTag<String> NAME = new TreeNodeTag<>("sluice.parameter");

    /** Returns JSON: the names of a text's parameters in their order; those of `?` are numbers from 1 on. */
    public String names(SparkSession session, String sql) throws JsonProcessingException, ParseException {
        return MAPPER.writeValueAsString(namesIn(parsed(session, sql)));
    }

    /** Analyzes the text; `values` maps names to columns, and may have fewer than the text. */
    public Dataset<Row> analyzed(SparkSession session, String sql, Map<String, Column> values) throws ParseException {
        LogicalPlan plan = parsed(session, sql);
        List<String> names = namesIn(plan);
        return Dataset$.MODULE$.ofRows(session, names.isEmpty() ? plan : bound(session, plan, names, values));
    }

    private static LogicalPlan bound(
            SparkSession session, LogicalPlan plan, List<String> names, Map<String, Column> values) {
        List<Expression> bound = new ArrayList<>();
        for (String name : names) {
            Column value = values.get(name);
            bound.add(value == null ? unknown(name) : session.expression(value));
        }
        boolean isNamed = !Character.isDigit(names.get(0).charAt(0));
        return isNamed
            ? new NameParameterizedQuery(plan, seq(names), seq(bound))
            : new PosParameterizedQuery(plan, seq(bound));
    }

    /** Returns JSON: the types of those parameters that have no value, by name; null where there is not just one. */
    public String types(Dataset<?> dataset) throws JsonProcessingException {
        Map<String, Set<String>> found = new LinkedHashMap<>();
        collectTypes(dataset.queryExecution().analyzed(), found);
        Map<String, String> types = new LinkedHashMap<>();
        found.forEach((name, ofName) -> types.put(name, ofName.size() == 1 ? ofName.iterator().next() : null));
        return MAPPER.writeValueAsString(types);
    }

    private static LogicalPlan parsed(SparkSession session, String sql) throws ParseException {
        return session.sessionState().sqlParser().parsePlan(sql);
    }

    private static Literal unknown(String name) {
        Literal value = new Literal(null, NullType$.MODULE$);
        value.setTagValue(NAME, name);
        return value;
    }

    private static List<String> namesIn(LogicalPlan plan) {
        Set<String> named = new LinkedHashSet<>();
        Set<Integer> places = new LinkedHashSet<>();
        collectNames(plan, named, places);
        List<String> names = new ArrayList<>(named);
        for (int number = 1; number <= places.size(); number++) {
            names.add(Integer.toString(number));
        }
        return names;
    }

    private static void collectNames(Object value, Set<String> named, Set<Integer> places) {
        if (value instanceof NamedParameter parameter) {
            named.add(parameter.name());
        } else if (value instanceof PosParameter parameter) {
            places.add(parameter.pos());
        }
        for (Object inner : inside(value)) {
            collectNames(inner, named, places);
        }
    }

    private static void collectTypes(Object value, Map<String, Set<String>> found) {
        if (value instanceof Cast cast) {
            Optional<String> name = optional(cast.child().getTagValue(NAME));
            if (name.isPresent()) {
                typesOf(name.get(), found).add(cast.dataType().sql());
                return;
            }
        }
        if (value instanceof Literal literal) {
            optional(literal.getTagValue(NAME)).ifPresent(name -> {
                Set<String> types = typesOf(name, found);
                if (literal.dataType() != NullType$.MODULE$) {
                    types.add(literal.dataType().sql());
                }
            });
        }
        for (Object inner : inside(value)) {
            collectTypes(inner, found);
        }
    }

    private static Set<String> typesOf(String name, Map<String, Set<String>> found) {
        return found.computeIfAbsent(name, unseen -> new LinkedHashSet<>());
    }

    /** Some nodes keep a plan in a field that is not among their children. Rows hold none, and may be many. */
    private static Iterable<?> inside(Object value) {
        if (value instanceof LocalRelation) {
            return List.of();
        }
        if (value instanceof scala.collection.Iterable<?> values) {
            return iterable(values);
        }
        return value instanceof Product product ? parts(product) : List.of();
    }
}
