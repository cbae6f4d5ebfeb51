package sluice.plans;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.parts;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.trees.TreePattern$;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Product;
import sluice.collections.Partial;
import sluice.relations.KnownRelation;

/**
 * An analyzed plan without what belongs to one query or to another cache: its tables' sessions, and the rows of
 * relations in memory.
 *
 * <p>The rows stay where they are kept, and this does not keep them there. A template whose rows are gone is of no use.
 *
 * <p>One query at a time has it: the expressions of a plan may keep a state while they are evaluated, as those of JSON
 * and of formats do, and queries of one template have the same expressions.
 */
final class PlanTemplate {

    /** The memory of a node, an expression or another part of a plan, about. */
    private static final long PART_BYTES = 120;

    private final LogicalPlan plan;
    private final List<WeakReference<KnownRelation.Box>> rows;
    private final long bytes;
    private final AtomicBoolean isTaken = new AtomicBoolean();

    private PlanTemplate(LogicalPlan plan, List<WeakReference<KnownRelation.Box>> rows, long bytes) {
        this.plan = plan;
        this.rows = rows;
        this.bytes = bytes;
    }

    /** Returns the template of an analyzed plan; null if it reads anything but pinned tables and rows in memory. */
    static PlanTemplate of(LogicalPlan analyzed) {
        Held found = new Counter().of(analyzed);
        List<TablePlace> tables = new ArrayList<>();
        List<WeakReference<KnownRelation.Box>> rows = new ArrayList<>();
        LogicalPlan plan = withLeaves(analyzed, leaf -> {
            if (leaf instanceof KnownRelation relation) {
                rows.add(new WeakReference<>(relation.box()));
                return relation.withRows(KnownRelation.NO_ROWS);
            }
            TablePlace place = leaf instanceof DataSourceV2Relation relation ? TablePlace.of(relation.table()) : null;
            if (place == null) {
                return leaf;
            }
            tables.add(place);
            return withTable((DataSourceV2Relation) leaf, place);
        });
        // It holds a set that Spark adds each query's number to.
        plan.unsetTagValue(Dataset$.MODULE$.DATASET_ID_TAG());
        // A relation that was not found where plans are looked for would keep its session, or its rows.
        boolean isWhole = !found.hasOthers && found.tables == tables.size() && found.relations == rows.size();
        long bytes = found.parts * PART_BYTES + tables.stream().mapToLong(each -> TableSizes.of(each.metadata())).sum();
        return isWhole && !tables.isEmpty() ? new PlanTemplate(plan, rows, bytes) : null;
    }

    /** About how many bytes it keeps in memory. */
    long bytes() {
        return bytes;
    }

    /** Whether the caller has it now, and nobody else until it is released. */
    boolean take() {
        return isTaken.compareAndSet(false, true);
    }

    /** Lets another query have it. The one before must not evaluate anything any more. */
    void release() {
        isTaken.set(false);
    }

    /** Returns the plan for the query that has taken it, as analyzed; null if rows that it reads are no longer kept. */
    LogicalPlan opened() {
        List<KnownRelation.Box> boxes = new ArrayList<>();
        for (WeakReference<KnownRelation.Box> each : rows) {
            KnownRelation.Box box = each.get();
            if (box == null) {
                return null;
            }
            boxes.add(box);
        }
        Iterator<KnownRelation.Box> next = boxes.iterator();
        LogicalPlan opened = withLeaves(plan, leaf -> {
            if (leaf instanceof KnownRelation relation) {
                return relation.withRows(next.next());
            }
            return leaf instanceof DataSourceV2Relation relation
                ? withTable(relation, ((TablePlace) relation.table()).opened())
                : leaf;
        });
        opened.setAnalyzed();
        return opened;
    }

    /** Replaces the leaves of a plan and of the queries in its expressions, always in the same order. */
    private static LogicalPlan withLeaves(LogicalPlan node, UnaryOperator<LogicalPlan> replaced) {
        if (list(node.children()).isEmpty()) {
            return replaced.apply(node);
        }
        LogicalPlan found = node.mapChildren(child -> withLeaves(child, replaced));
        if (!found.containsPattern(TreePattern$.MODULE$.PLAN_EXPRESSION())) {
            return found;
        }
        return found.transformExpressionsUp(Partial.where(
            expression -> expression instanceof PlanExpression,
            expression -> inQuery(expression, replaced)));
    }

    /** The queries in expressions of an analyzed plan are logical plans. */
    @SuppressWarnings("unchecked")
    private static Expression inQuery(Expression expression, UnaryOperator<LogicalPlan> replaced) {
        var query = (PlanExpression<LogicalPlan>) expression;
        LogicalPlan plan = withLeaves(query.plan(), replaced);
        plan.setAnalyzed();
        return query.withNewPlan(plan);
    }

    /** Tables in a template and those of queries are never equal, or Spark would keep the one that is there. */
    private static DataSourceV2Relation withTable(DataSourceV2Relation relation, Table table) {
        DataSourceV2Relation found = relation.copy(
            table,
            relation.output(),
            relation.catalog(),
            relation.identifier(),
            relation.options(),
            relation.timeTravelSpec());
        found.copyTagsFrom(relation);
        return found;
    }

    /** What a plan or a part of it holds, wherever it holds it. */
    private record Held(long parts, long tables, long relations, boolean hasOthers) {

        /** More than any plan has. It keeps sums of what is shared many times from overflowing. */
        private static final long MANY = 1L << 40;

        Held plus(Held other) {
            return new Held(
                parts + other.parts,
                Math.min(MANY, tables + other.tables),
                Math.min(MANY, relations + other.relations),
                hasOthers || other.hasOthers);
        }

        /** Returns what it adds where it is held once more: its parts are in memory once. */
        Held again() {
            return new Held(0, tables, relations, hasOthers);
        }
    }

    /**
     * Counts what a plan holds. What is held in several places counts in each, but is visited once: functions such as
     * `nvl` have each argument twice, so the time would double with each level.
     */
    private static final class Counter {

        private final Map<TreeNode<?>, Held> visited = new IdentityHashMap<>();

        Held of(Object value) {
            if (!(value instanceof TreeNode<?> node)) {
                return inside(value, new Held(1, 0, 0, false));
            }
            Held before = visited.get(node);
            if (before != null) {
                return before.again();
            }
            Held found = inside(node, itself(node));
            visited.put(node, found);
            return found;
        }

        private static Held itself(TreeNode<?> node) {
            // A text may have a name of rows in memory alone: what another view reads may change.
            boolean isOther = node instanceof View view
                && (!view.isTempView() || !(view.child() instanceof KnownRelation));
            return new Held(
                1, node instanceof DataSourceV2Relation ? 1 : 0, node instanceof KnownRelation ? 1 : 0, isOther);
        }

        private Held inside(Object value, Held itself) {
            Held found = itself;
            if (value instanceof scala.collection.Iterable<?> values) {
                for (Object each : iterable(values)) {
                    found = found.plus(of(each));
                }
            } else if (value instanceof Product product && !(value instanceof LocalRelation)) {
                for (Object each : parts(product)) {
                    found = found.plus(of(each));
                }
            }
            return found;
        }
    }
}
