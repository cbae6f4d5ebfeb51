package sluice.statements;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.map;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.spark.sql.catalyst.FunctionIdentifier;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry$;
import org.apache.spark.sql.catalyst.analysis.FunctionRegistryBase;
import org.apache.spark.sql.catalyst.analysis.TableFunctionRegistry$;
import org.apache.spark.sql.catalyst.expressions.ApplyFunctionExpression;
import org.apache.spark.sql.catalyst.expressions.CsvToStructs;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.SchemaOfCsv;
import org.apache.spark.sql.catalyst.expressions.StructsToCsv;
import org.apache.spark.sql.catalyst.expressions.objects.Invoke;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import scala.collection.immutable.Map;
import sluice.relations.KnownRelation;

/**
 * Finds what may not be in an analyzed plan. By then, it contains the texts of the views that it reads, and the
 * functions of catalogs. A class that is not listed is not allowed.
 */
public final class PlanVetting {

    private static final String SPARK = "org.apache.spark.sql.";

    private Set<String> nodes = Set.of();
    private Set<String> expressions = Set.of();
    private Set<String> options = Set.of();
    private List<String> called = List.of();

    /**
     * Allows these classes of Spark, and options of CSV in lower case; each argument has spaces between the names.
     * `called` are the beginnings of classes whose methods may be called.
     */
    public void allow(String nodes, String expressions, String options, String called) {
        this.nodes = namesIn(nodes);
        this.expressions = namesIn(expressions);
        this.options = namesIn(options);
        this.called = List.of(called.split(" "));
    }

    /** Drops all other functions from the registries that new sessions copy. */
    public void keepFunctions(String functions, String tableFunctions) {
        keep(FunctionRegistry$.MODULE$.builtin(), namesIn(functions));
        keep(TableFunctionRegistry$.MODULE$.builtin(), namesIn(tableFunctions));
    }

    /** Returns what an analyzed query may not have; null if there is nothing. */
    public String refusedIn(Dataset<?> dataset) {
        return refusedIn(dataset.queryExecution().analyzed());
    }

    /** Returns what an analyzed plan may not have; null if there is nothing. */
    public String refusedIn(LogicalPlan plan) {
        String name = nameOf(plan);
        if (!nodes.contains(name) || plan.isStreaming()) {
            return name;
        }
        String found = refusedIn(list(plan.expressions()));
        if (found != null) {
            return found;
        }
        for (LogicalPlan child : list(plan.children())) {
            found = refusedIn(child);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private String refusedIn(List<Expression> values) {
        for (Expression value : values) {
            String found = refusedIn(value);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private String refusedIn(Expression value) {
        String name = nameOf(value);
        if (!expressions.contains(name)) {
            return name;
        }
        String owner = calledBy(value);
        if (owner != null && called.stream().noneMatch(owner::startsWith)) {
            return owner;
        }
        String option = refusedOption(value);
        if (option != null) {
            return option;
        }
        if (value instanceof PlanExpression<?> query && query.plan() instanceof LogicalPlan plan) {
            String found = refusedIn(plan);
            if (found != null) {
                return found;
            }
        }
        return refusedIn(list(value.children()));
    }

    private String refusedOption(Expression value) {
        Map<String, String> given = optionsOf(value);
        if (given == null) {
            return null;
        }
        for (String name : map(given).keySet()) {
            if (!options.contains(name.toLowerCase(Locale.ROOT))) {
                return name;
            }
        }
        return null;
    }

    private static Map<String, String> optionsOf(Expression value) {
        if (value instanceof CsvToStructs call) {
            return call.options();
        }
        if (value instanceof StructsToCsv call) {
            return call.options();
        }
        return value instanceof SchemaOfCsv call ? call.options() : null;
    }

    /** Returns the class whose method is called; null if it is none, or one that Spark has made. */
    private static String calledBy(Expression value) {
        if (value instanceof StaticInvoke call) {
            return call.staticObject().getName();
        }
        if (value instanceof ApplyFunctionExpression call) {
            return call.function().getClass().getName();
        }
        if (value instanceof Invoke call && call.targetObject() instanceof Literal target) {
            return target.value() == null ? null : target.value().getClass().getName();
        }
        return null;
    }

    /** Returns the class's own name, if it is one of Spark's packages; else its full name, which no list has. */
    public static String nameOf(Object node) {
        if (node instanceof KnownRelation) {
            return "LocalRelation";
        }
        String name = node.getClass().getName();
        if (!name.startsWith(SPARK)) {
            return name;
        }
        int end = name.endsWith("$") ? name.length() - 1 : name.length();
        int start = Math.max(name.lastIndexOf('.', end - 1), name.lastIndexOf('$', end - 1)) + 1;
        return name.substring(start, end);
    }

    private static void keep(FunctionRegistryBase<?> registry, Set<String> kept) {
        for (FunctionIdentifier name : list(registry.listFunction())) {
            if (!kept.contains(name.funcName())) {
                registry.dropFunction(name);
            }
        }
    }

    private static Set<String> namesIn(String text) {
        return new HashSet<>(List.of(text.split(" ")));
    }
}
