package sluice.policies;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoopRef;
import org.apache.spark.sql.classic.SparkSession;
import sluice.collections.Partial;

/** The guards of one query. */
final class QueryGuards {

    private final SparkSession spark;
    private final Map<Restriction.Place, Restriction> byPlace;
    private final Set<List<String>> viewNames;
    private final Set<LogicalPlan> guarded = Collections.newSetFromMap(new IdentityHashMap<>());

    /** Returns what stands in the place of a node. `path` has the views around it. */
    @FunctionalInterface
    private interface Rewrite {
        LogicalPlan rewritten(LogicalPlan node, List<List<String>> path);
    }

    private final Set<Restriction.Place> met = new HashSet<>();

    /** Views have their names among `viewNames`, in lower case. */
    QueryGuards(SparkSession spark, Map<Restriction.Place, Restriction> byPlace, Set<List<String>> viewNames) {
        this.spark = spark;
        this.byPlace = byPlace;
        this.viewNames = viewNames;
    }

    /** Returns the plan over guarded views. `canFail`: a condition of the query can fail on a row. */
    LogicalPlan guardedViews(LogicalPlan plan, boolean canFail) {
        return in(plan, List.of(), (node, path) -> {
            Restriction found = at(path, viewOf(node));
            return found == null ? node : guardedView(node, found, canFail);
        });
    }

    /** Returns the plan over guarded tables. `canFail`: a condition of the query can fail on a row. */
    LogicalPlan guardedTables(LogicalPlan plan, boolean canFail) {
        return in(plan, List.of(), (node, path) -> {
            Restriction found = at(path, tableOf(node));
            return found == null ? withNullableColumns(node) : guardedTable(node, found, canFail);
        });
    }

    /** Whether each restriction was met where it belongs: none may be lost because a place is not found again. */
    boolean areAllMet() {
        return met.containsAll(byPlace.keySet());
    }

    /** Whether a table or view that has a restriction is read by anything but its guard. */
    boolean isAnyUnguardedIn(LogicalPlan plan) {
        Unguarded unguarded = new Unguarded();
        unguarded.collect(plan);
        return unguarded.isAny;
    }

    /** Rewrites each node of a plan and of the queries in it, after what is below it. */
    private LogicalPlan in(LogicalPlan node, List<List<String>> path, Rewrite rewrite) {
        List<String> view = viewOf(node);
        List<List<String>> below = view == null ? path : PlanWalk.with(path, view);
        LogicalPlan found = node.mapChildren(child -> in(child, below, rewrite));
        LogicalPlan whole = found.transformExpressionsUp(Partial.where(
            expression -> expression instanceof PlanExpression,
            expression -> inQuery(expression, below, rewrite)));
        return rewrite.rewritten(whole, path);
    }

    /** The queries in expressions of an analyzed plan are logical plans. */
    @SuppressWarnings("unchecked")
    private Expression inQuery(Expression expression, List<List<String>> path, Rewrite rewrite) {
        var query = (PlanExpression<LogicalPlan>) expression;
        return query.withNewPlan(in(query.plan(), path, rewrite));
    }

    private LogicalPlan guardedTable(LogicalPlan node, Restriction restriction, boolean canFail) {
        LogicalPlan fresh = ((MultiInstanceRelation) node).newInstance();
        guarded.add(fresh);
        return GuardedPlans.guard(spark, node, fresh, restriction, canFail);
    }

    private LogicalPlan guardedView(LogicalPlan node, Restriction restriction, boolean canFail) {
        LogicalPlan fresh = GuardedPlans.renewedView(node);
        guarded.add(fresh);
        LogicalPlan rows = restriction.isApart() && canFail ? GuardedPlans.apart(fresh) : fresh;
        return GuardedPlans.guard(spark, node, rows, restriction, canFail);
    }

    /** A mask may give NULL for a column that has none; these nodes say so by a copy of their columns. */
    private static LogicalPlan withNullableColumns(LogicalPlan node) {
        if (!(node instanceof CTERelationRef || node instanceof UnionLoopRef)) {
            return node;
        }
        Object[] arguments = new Object[node.productArity()];
        for (int i = 0; i < arguments.length; i++) {
            Object argument = node.productElement(i);
            arguments[i] = argument == node.output() ? nullable(list(node.output())) : argument;
        }
        return node.makeCopy(arguments);
    }

    private static scala.collection.immutable.Seq<Attribute> nullable(List<Attribute> columns) {
        return seq(columns.stream().map(column -> column.withNullability(true)).toList());
    }

    private Restriction at(List<List<String>> path, List<String> name) {
        if (name == null) {
            return null;
        }
        Restriction.Place place = new Restriction.Place(path, name);
        Restriction found = byPlace.get(place);
        if (found != null) {
            met.add(place);
        }
        return found;
    }

    private List<String> viewOf(LogicalPlan node) {
        List<String> name = RelationNames.viewOf(node);
        List<String> lower = name == null ? null : RelationNames.inLowerCase(name);
        // The alias of a guarded table is over columns, too.
        return lower != null && viewNames.contains(lower) ? lower : null;
    }

    private static List<String> tableOf(LogicalPlan node) {
        List<String> name = RelationNames.nameOf(node);
        return name == null ? null : RelationNames.inLowerCase(name);
    }

    private final class Unguarded extends PlanWalk {
        private boolean isAny;

        @Override
        protected List<String> viewOf(LogicalPlan node) {
            return QueryGuards.this.viewOf(node);
        }

        @Override
        protected void visit(LogicalPlan node) {
            List<String> view = viewOf(node);
            Restriction found = at(path(), view == null ? tableOf(node) : view);
            isAny = isAny || (found != null && !isGuarded(node));
        }

        /** The analyzer may copy a node, but not its columns. */
        private boolean isGuarded(LogicalPlan node) {
            return guarded.stream().anyMatch(each -> each.sameOutput(node));
        }
    }
}
