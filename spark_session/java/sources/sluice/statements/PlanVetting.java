package sluice.statements;

import java.util.Arrays;
import java.util.HashSet;
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

/**
 * Finds what may not be in an analyzed plan. By then, it contains the texts of the views that it reads, and the
 * functions of catalogs. A class that is not listed is not allowed.
 */
public final class PlanVetting {
    private static final String SPARK = "org.apache.spark.sql.";

    private Set nodes = new HashSet();
    private Set expressions = new HashSet();
    private Set options = new HashSet();
    private String[] called = new String[0];

    /**
     * Allows these classes of Spark, and options of CSV in lower case; each argument has spaces between the names.
     * `called` are the beginnings of classes whose methods may be called.
     */
    public void allow(String nodes, String expressions, String options, String called) {
        this.nodes = new HashSet(Arrays.asList(nodes.split(" ")));
        this.expressions = new HashSet(Arrays.asList(expressions.split(" ")));
        this.options = new HashSet(Arrays.asList(options.split(" ")));
        this.called = called.split(" ");
    }

    /** Drops all other functions from the registries that new sessions copy. */
    public void keepFunctions(String functions, String tableFunctions) {
        keep(FunctionRegistry$.MODULE$.builtin(), new HashSet(Arrays.asList(functions.split(" "))));
        keep(TableFunctionRegistry$.MODULE$.builtin(), new HashSet(Arrays.asList(tableFunctions.split(" "))));
    }

    private static void keep(FunctionRegistryBase registry, Set kept) {
        scala.collection.Iterator names = registry.listFunction().iterator();
        while (names.hasNext()) {
            FunctionIdentifier name = (FunctionIdentifier) names.next();
            if (!kept.contains(name.funcName())) {
                registry.dropFunction(name);
            }
        }
    }

    /** Returns what an analyzed query may not have; null if there is nothing. */
    public String refusedIn(Object dataset) {
        return refusedInPlan(((Dataset) dataset).queryExecution().analyzed());
    }

    /** Returns what an analyzed plan may not have; null if there is nothing. */
    public String refusedInPlan(Object plan) {
        return ofPlan((LogicalPlan) plan);
    }

    private String ofPlan(LogicalPlan plan) {
        String name = nameOf(plan);
        if (!nodes.contains(name) || plan.isStreaming()) {
            return name;
        }
        String found = ofExpressions(plan.expressions().iterator());
        return found != null ? found : ofPlans(plan.children().iterator());
    }

    private String ofPlans(scala.collection.Iterator plans) {
        while (plans.hasNext()) {
            String found = ofPlan((LogicalPlan) plans.next());
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private String ofExpressions(scala.collection.Iterator values) {
        while (values.hasNext()) {
            String found = ofExpression((Expression) values.next());
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private String ofExpression(Expression value) {
        String name = nameOf(value);
        if (!expressions.contains(name)) {
            return name;
        }
        String method = calledBy(value);
        if (method != null && !isAllowedClass(method)) {
            return method;
        }
        String option = ofOptions(value);
        if (option != null) {
            return option;
        }
        if (value instanceof PlanExpression && ((PlanExpression) value).plan() instanceof LogicalPlan) {
            String found = ofPlan((LogicalPlan) ((PlanExpression) value).plan());
            if (found != null) {
                return found;
            }
        }
        return ofExpressions(value.children().iterator());
    }

    /** Returns the class whose method is called; null if it is none, or one that Spark has made. */
    private static String calledBy(Expression value) {
        if (value instanceof StaticInvoke) {
            return ((StaticInvoke) value).staticObject().getName();
        }
        if (value instanceof ApplyFunctionExpression) {
            return ((ApplyFunctionExpression) value).function().getClass().getName();
        }
        if (value instanceof Invoke && ((Invoke) value).targetObject() instanceof Literal) {
            Object target = ((Literal) ((Invoke) value).targetObject()).value();
            return target == null ? null : target.getClass().getName();
        }
        return null;
    }

    private boolean isAllowedClass(String name) {
        for (int i = 0; i < called.length; i++) {
            if (name.startsWith(called[i])) {
                return true;
            }
        }
        return false;
    }

    private String ofOptions(Expression value) {
        scala.collection.immutable.Map given = null;
        if (value instanceof CsvToStructs) {
            given = ((CsvToStructs) value).options();
        } else if (value instanceof StructsToCsv) {
            given = ((StructsToCsv) value).options();
        } else if (value instanceof SchemaOfCsv) {
            given = ((SchemaOfCsv) value).options();
        }
        if (given != null) {
            scala.collection.Iterator names = given.keysIterator();
            while (names.hasNext()) {
                String name = (String) names.next();
                if (!options.contains(name.toLowerCase(java.util.Locale.ROOT))) {
                    return name;
                }
            }
        }
        return null;
    }

    /** Returns the class's own name, if it is one of Spark's packages; else its full name, which no list has. */
    private static String nameOf(Object node) {
        String name = node.getClass().getName();
        if (!name.startsWith(SPARK)) {
            return name;
        }
        int end = name.endsWith("$") ? name.length() - 1 : name.length();
        int start = Math.max(name.lastIndexOf('.', end - 1), name.lastIndexOf('$', end - 1)) + 1;
        return name.substring(start, end);
    }
}
