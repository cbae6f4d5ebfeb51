package sluice.results;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.CaseWhen;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.WindowExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationDef;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Except;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Intersect;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LateralJoin;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sort;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;

/**
 * Finds from an analyzed plan which columns of which tables each column of a result is made of, and which columns
 * decide on its rows.
 *
 * It reads the analyzed plan, not the optimized one: all names are resolved there, and nothing is left out yet.
 * Compiled at start by Janino, the compiler that Spark ships for its generated code; hence no lambdas.
 */
public final class ColumnLineage {
    /** The most steps and sources for one plan, so that no text makes this take long. */
    private static final int STEPS = 200000;

    private static final int IDENTITY = 0;
    private static final int TRANSFORMATION = 1;
    private static final int AGGREGATION = 2;
    private static final int CONDITIONAL = 3;
    private static final int FILTER = 4;
    private static final int JOIN = 5;
    private static final int GROUP_BY = 6;
    private static final int SORT = 7;
    private static final int WINDOW = 8;
    private static final String[] KINDS = {
        "IDENTITY", "TRANSFORMATION", "AGGREGATION", "CONDITIONAL", "FILTER", "JOIN", "GROUP_BY", "SORT", "WINDOW",
    };
    private static final Set HASHES = new HashSet(Arrays.asList(new Object[] {
        "Md5", "Sha1", "Sha2", "Crc32", "Murmur3Hash", "XxHash64", "HiveHash",
    }));

    /** Returns JSON: [[[name, sources], ...], sources of the rows]; a source is [table, column, kind, is masked]. */
    public String read(Object queryExecution) throws Exception {
        LogicalPlan plan = ((QueryExecution) queryExecution).analyzed();
        Walk walk = new Walk();
        try {
            walk.plan(plan);
        } catch (TooLong tooLong) {
            return "null";
        }
        List columns = new ArrayList();
        Iterator output = listOf(plan.output()).iterator();
        while (output.hasNext()) {
            Attribute each = (Attribute) output.next();
            columns.add(new Object[] {each.name(), walk.told(walk.known(each))});
        }
        return new ObjectMapper().writeValueAsString(new Object[] {columns, walk.told(walk.rows)});
    }

    private static List listOf(scala.collection.Iterable all) {
        List found = new ArrayList();
        scala.collection.Iterator each = all.iterator();
        while (each.hasNext()) {
            found.add(each.next());
        }
        return found;
    }

    private static final class TooLong extends RuntimeException {
    }

    private static final class Walk {
        /** Maps the id of an attribute to its sources: lists of table, column, kind, is masked. */
        private final Map sources = new HashMap();
        private final Map definitions = new HashMap();
        private final Set seen = Collections.newSetFromMap(new IdentityHashMap());
        private final Set rows = new LinkedHashSet();
        private int steps = 0;

        /** Visits each once: an expression, with the plans of its subqueries, may occur in several places. */
        void plan(LogicalPlan node) {
            if (!seen.add(node)) {
                return;
            }
            step();
            List children = listOf(node.children());
            for (int i = 0; i < children.size(); i++) {
                plan((LogicalPlan) children.get(i));
            }
            if (children.isEmpty()) {
                leaf(node);
            }
            if (node instanceof SubqueryAlias) {
                held((SubqueryAlias) node);
            } else if (node instanceof Project) {
                named(((Project) node).projectList());
            } else if (node instanceof Filter) {
                decides(((Filter) node).condition(), FILTER);
            } else if (node instanceof Join) {
                decides(((Join) node).condition(), JOIN);
            } else if (node instanceof Aggregate) {
                named(((Aggregate) node).groupingExpressions());
                decideAll(((Aggregate) node).groupingExpressions(), GROUP_BY);
                named(((Aggregate) node).aggregateExpressions());
            } else if (node instanceof Sort) {
                decideAll(((Sort) node).order(), SORT);
            } else if (node instanceof Window) {
                decideAll(((Window) node).partitionSpec(), WINDOW);
                decideAll(((Window) node).orderSpec(), WINDOW);
                named(((Window) node).windowExpressions());
            } else if (node instanceof Generate) {
                generated((Generate) node);
            } else if (node instanceof Expand) {
                expanded((Expand) node);
            } else if (node instanceof LateralJoin) {
                plan((LogicalPlan) ((LateralJoin) node).right().plan());
                decides(((LateralJoin) node).condition(), JOIN);
            } else if (node instanceof CTERelationDef) {
                definitions.put(Long.valueOf(((CTERelationDef) node).id()), listOf(node.output()));
            } else if (node instanceof Union) {
                united(node, children);
            } else if (node instanceof Except || node instanceof Intersect) {
                decideAll(((LogicalPlan) children.get(1)).output(), FILTER);
            }
            passed(node, children);
        }

        Set known(Attribute attribute) {
            Set found = (Set) sources.get(Long.valueOf(attribute.exprId().id()));
            return found == null ? new LinkedHashSet() : found;
        }

        List told(Set found) {
            List told = new ArrayList();
            for (Iterator each = found.iterator(); each.hasNext();) {
                List source = (List) each.next();
                int kind = ((Integer) source.get(2)).intValue();
                told.add(new Object[] {source.get(0), source.get(1), KINDS[kind], source.get(3)});
            }
            return told;
        }

        private void leaf(LogicalPlan node) {
            if (node instanceof DataSourceV2Relation) {
                read(((DataSourceV2Relation) node).table().name(), node);
            } else if (node instanceof LogicalRelation) {
                scala.Option table = ((LogicalRelation) node).catalogTable();
                if (table.isDefined()) {
                    read(((org.apache.spark.sql.catalyst.catalog.CatalogTable) table.get()).qualifiedName(), node);
                }
            } else if (node instanceof CTERelationRef) {
                Object defined = definitions.get(Long.valueOf(((CTERelationRef) node).cteId()));
                if (defined != null) {
                    alike(listOf(node.output()), (List) defined);
                }
            }
        }

        /** Rows in memory have no table: they are reported by their name in the text. */
        private void held(SubqueryAlias alias) {
            List output = listOf(alias.output());
            for (int i = 0; i < output.size(); i++) {
                if (sources.get(Long.valueOf(((Attribute) output.get(i)).exprId().id())) != null) {
                    return;
                }
            }
            read(alias.identifier().name(), alias);
        }

        private void read(String table, LogicalPlan relation) {
            List output = listOf(relation.output());
            for (int i = 0; i < output.size(); i++) {
                Attribute each = (Attribute) output.get(i);
                Set own = new LinkedHashSet();
                note(own, table, each.name(), IDENTITY, false);
                put(each, own);
            }
        }

        private void named(scala.collection.Iterable expressions) {
            List all = listOf(expressions);
            for (int i = 0; i < all.size(); i++) {
                if (all.get(i) instanceof Alias) {
                    Alias alias = (Alias) all.get(i);
                    Set found = new LinkedHashSet();
                    expression(alias.child(), IDENTITY, false, found);
                    sources.put(Long.valueOf(alias.exprId().id()), found);
                }
            }
        }

        private void decides(scala.Option condition, int kind) {
            if (condition.isDefined()) {
                decides((Expression) condition.get(), kind);
            }
        }

        private void decides(Expression condition, int kind) {
            expression(condition, kind, false, rows);
        }

        private void decideAll(scala.collection.Iterable expressions, int kind) {
            List all = listOf(expressions);
            for (int i = 0; i < all.size(); i++) {
                decides((Expression) all.get(i), kind);
            }
        }

        private void generated(Generate node) {
            Set found = new LinkedHashSet();
            expression((Expression) node.generator(), TRANSFORMATION, false, found);
            List output = listOf(node.generatorOutput());
            for (int i = 0; i < output.size(); i++) {
                put((Attribute) output.get(i), found);
            }
        }

        private void expanded(Expand node) {
            List output = listOf(node.output());
            List projections = listOf(node.projections());
            for (int i = 0; i < output.size(); i++) {
                Set found = new LinkedHashSet();
                for (int j = 0; j < projections.size(); j++) {
                    List row = listOf((scala.collection.Iterable) projections.get(j));
                    expression((Expression) row.get(i), IDENTITY, false, found);
                }
                put((Attribute) output.get(i), found);
            }
        }

        /** Finds all before it records any: a union's own columns may have the ids of its first branch's. */
        private void united(LogicalPlan node, List children) {
            List output = listOf(node.output());
            List together = new ArrayList();
            for (int i = 0; i < output.size(); i++) {
                Set found = new LinkedHashSet();
                for (int j = 0; j < children.size(); j++) {
                    List branch = listOf(((LogicalPlan) children.get(j)).output());
                    expression((Expression) branch.get(i), IDENTITY, false, found);
                }
                together.add(found);
            }
            for (int i = 0; i < output.size(); i++) {
                put((Attribute) output.get(i), (Set) together.get(i));
            }
        }

        /** A node may pass columns on with new ids, each in the place of the old one. */
        private void passed(LogicalPlan node, List children) {
            List output = listOf(node.output());
            for (int i = 0; i < children.size(); i++) {
                List below = listOf(((LogicalPlan) children.get(i)).output());
                if (below.size() == output.size()) {
                    alike(output, below);
                }
            }
        }

        private void alike(List output, List below) {
            for (int i = 0; i < output.size() && output.size() == below.size(); i++) {
                Attribute each = (Attribute) output.get(i);
                if (sources.get(Long.valueOf(each.exprId().id())) == null) {
                    put(each, known((Attribute) below.get(i)));
                }
            }
        }

        private void put(Attribute attribute, Set found) {
            if (!found.isEmpty()) {
                sources.put(Long.valueOf(attribute.exprId().id()), found);
            }
        }

        private void expression(Expression node, int kind, boolean isMasked, Set into) {
            step();
            if (node instanceof Attribute) {
                attribute((Attribute) node, kind, isMasked, into);
            } else if (node instanceof OuterReference) {
                expression((Expression) ((OuterReference) node).e(), kind, isMasked, into);
            } else if (node instanceof Alias) {
                expression(((Alias) node).child(), kind, isMasked, into);
            } else if (node instanceof Cast && ((Cast) node).child().dataType().equals(node.dataType())) {
                // A view's columns are cast to the types that it was made with.
                expression(((Cast) node).child(), kind, isMasked, into);
            } else if (node instanceof PlanExpression) {
                subquery((LogicalPlan) ((PlanExpression) node).plan(), stronger(kind, TRANSFORMATION), isMasked, into);
            } else if (node instanceof WindowExpression) {
                WindowExpression window = (WindowExpression) node;
                decideAll(window.windowSpec().partitionSpec(), WINDOW);
                decideAll(window.windowSpec().orderSpec(), WINDOW);
                expression(window.windowFunction(), stronger(kind, TRANSFORMATION), isMasked, into);
            } else if (node instanceof AggregateExpression) {
                AggregateExpression call = (AggregateExpression) node;
                expression(call.aggregateFunction(), stronger(kind, AGGREGATION), isMasked, into);
                if (call.filter().isDefined()) {
                    expression((Expression) call.filter().get(), stronger(kind, CONDITIONAL), isMasked, into);
                }
            } else if (node instanceof If) {
                If choice = (If) node;
                expression(choice.predicate(), stronger(kind, CONDITIONAL), isMasked, into);
                expression(choice.trueValue(), stronger(kind, TRANSFORMATION), isMasked, into);
                expression(choice.falseValue(), stronger(kind, TRANSFORMATION), isMasked, into);
            } else if (node instanceof CaseWhen) {
                chosen((CaseWhen) node, kind, isMasked, into);
            } else {
                boolean hides = isMasked || node instanceof Count || HASHES.contains(node.getClass().getSimpleName());
                List children = listOf(node.children());
                for (int i = 0; i < children.size(); i++) {
                    expression((Expression) children.get(i), stronger(kind, TRANSFORMATION), hides, into);
                }
            }
        }

        private void chosen(CaseWhen node, int kind, boolean isMasked, Set into) {
            List branches = listOf(node.branches());
            for (int i = 0; i < branches.size(); i++) {
                scala.Tuple2 branch = (scala.Tuple2) branches.get(i);
                expression((Expression) branch._1(), stronger(kind, CONDITIONAL), isMasked, into);
                expression((Expression) branch._2(), stronger(kind, TRANSFORMATION), isMasked, into);
            }
            if (node.elseValue().isDefined()) {
                expression((Expression) node.elseValue().get(), stronger(kind, TRANSFORMATION), isMasked, into);
            }
        }

        private void subquery(LogicalPlan plan, int kind, boolean isMasked, Set into) {
            plan(plan);
            List output = listOf(plan.output());
            for (int i = 0; i < output.size(); i++) {
                attribute((Attribute) output.get(i), kind, isMasked, into);
            }
        }

        private void attribute(Attribute attribute, int kind, boolean isMasked, Set into) {
            for (Iterator each = known(attribute).iterator(); each.hasNext();) {
                List source = (List) each.next();
                int through = stronger(((Integer) source.get(2)).intValue(), kind);
                boolean hides = isMasked || ((Boolean) source.get(3)).booleanValue();
                note(into, (String) source.get(0), (String) source.get(1), through, hides);
            }
        }

        private void step() {
            if (++steps > STEPS) {
                throw new TooLong();
            }
        }

        /** A value only changes more on its way, and a column that only decides never becomes a value again. */
        private static int stronger(int one, int other) {
            return Math.max(one, other);
        }

        private void note(Set into, String table, String column, int kind, boolean isMasked) {
            step();
            into.add(Arrays.asList(new Object[] {table, column, Integer.valueOf(kind), Boolean.valueOf(isMasked)}));
        }
    }
}
