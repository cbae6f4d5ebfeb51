package sluice.results;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
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
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.collection.Seq;

/** Finds the sources of the columns of each node of an analyzed plan, and of its rows. */
final class PlanLineage {

    private final ColumnSources sources = new ColumnSources();
    /** The columns of common table expressions by their ids. */
    private final Map<Long, List<Attribute>> definitions = new HashMap<>();
    private final Set<LogicalPlan> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    private final Set<SourceColumn> rows = new LinkedHashSet<>();

    /** Returns the sources of a column of a visited plan. */
    Set<SourceColumn> sourcesOf(Attribute column) {
        return sources.of(column);
    }

    /** Returns the columns that decide on the rows of the visited plans. */
    Set<SourceColumn> sourcesOfRows() {
        return rows;
    }

    /**
     * Visits each node once: an expression, with the plans of its subqueries, may occur in several places. Throws
     * ColumnSources.TooLong if there are too many.
     */
    void visit(LogicalPlan node) {
        if (!seen.add(node)) {
            return;
        }
        sources.step();
        List<LogicalPlan> children = list(node.children());
        for (LogicalPlan child : children) {
            visit(child);
        }
        if (children.isEmpty()) {
            leaf(node);
        }
        own(node, children);
        passed(node, children);
    }

    /** Adds the sources of expressions to those of the rows. */
    void decideAll(Seq<? extends Expression> expressions, SourceKind kind) {
        for (Expression expression : list(expressions)) {
            decide(expression, kind);
        }
    }

    private void own(LogicalPlan node, List<LogicalPlan> children) {
        if (node instanceof SubqueryAlias alias) {
            held(alias);
        } else if (node instanceof Project project) {
            named(project.projectList());
        } else if (node instanceof Filter filter) {
            decide(filter.condition(), SourceKind.FILTER);
        } else if (node instanceof Join join && join.condition().isDefined()) {
            decide(join.condition().get(), SourceKind.JOIN);
        } else if (node instanceof Aggregate aggregate) {
            named(aggregate.groupingExpressions());
            decideAll(aggregate.groupingExpressions(), SourceKind.GROUP_BY);
            named(aggregate.aggregateExpressions());
        } else if (node instanceof Sort sort) {
            decideAll(sort.order(), SourceKind.SORT);
        } else if (node instanceof Window window) {
            decideAll(window.partitionSpec(), SourceKind.WINDOW);
            decideAll(window.orderSpec(), SourceKind.WINDOW);
            named(window.windowExpressions());
        } else if (node instanceof Generate generate) {
            generated(generate);
        } else if (node instanceof Expand expand) {
            expanded(expand);
        } else if (node instanceof LateralJoin join) {
            lateral(join);
        } else if (node instanceof CTERelationDef definition) {
            definitions.put(definition.id(), list(node.output()));
        } else if (node instanceof Union) {
            united(node, children);
        } else if (node instanceof Except || node instanceof Intersect) {
            decideAll(children.get(1).output(), SourceKind.FILTER);
        }
    }

    private void leaf(LogicalPlan node) {
        if (node instanceof DataSourceV2Relation relation) {
            sources.read(relation.table().name(), node);
        } else if (node instanceof LogicalRelation relation) {
            if (relation.catalogTable().isDefined()) {
                sources.read(relation.catalogTable().get().qualifiedName(), node);
            }
        } else if (node instanceof CTERelationRef reference) {
            List<Attribute> defined = definitions.get(reference.cteId());
            if (defined != null) {
                sources.pass(indexed(node.output()), new ArrayList<>(defined));
            }
        }
    }

    /** Rows in memory have no table: they are reported by their name in the text. */
    private void held(SubqueryAlias alias) {
        if (list(alias.output()).stream().noneMatch(sources::has)) {
            sources.read(alias.identifier().name(), alias);
        }
    }

    private void named(Seq<?> expressions) {
        for (Object expression : list(expressions)) {
            if (expression instanceof Alias alias) {
                sources.define(alias.exprId().id(), found(alias.child(), SourceKind.IDENTITY));
            }
        }
    }

    private void lateral(LateralJoin join) {
        visit(join.right().plan());
        if (join.condition().isDefined()) {
            decide(join.condition().get(), SourceKind.JOIN);
        }
    }

    private void decide(Expression condition, SourceKind kind) {
        new ExpressionLineage(this, sources, rows).add(condition, kind, false);
    }

    private Set<SourceColumn> found(Expression expression, SourceKind kind) {
        Set<SourceColumn> found = new LinkedHashSet<>();
        new ExpressionLineage(this, sources, found).add(expression, kind, false);
        return found;
    }

    private void generated(Generate node) {
        Set<SourceColumn> found = found((Expression) node.generator(), SourceKind.TRANSFORMATION);
        for (Attribute column : list(node.generatorOutput())) {
            sources.put(column, found);
        }
    }

    private void expanded(Expand node) {
        List<Attribute> output = indexed(node.output());
        List<List<Expression>> projections = new ArrayList<>();
        list(node.projections()).forEach(row -> projections.add(indexed(row)));
        for (int i = 0; i < output.size(); i++) {
            sources.put(output.get(i), inPlace(projections, i));
        }
    }

    /** Finds all before it records any: a union's own columns may have the ids of its first branch's. */
    private void united(LogicalPlan node, List<LogicalPlan> children) {
        List<Attribute> output = indexed(node.output());
        List<List<Attribute>> branches = new ArrayList<>();
        children.forEach(branch -> branches.add(indexed(branch.output())));
        List<Set<SourceColumn>> together = new ArrayList<>();
        for (int i = 0; i < output.size(); i++) {
            together.add(inPlace(branches, i));
        }
        for (int i = 0; i < output.size(); i++) {
            sources.put(output.get(i), together.get(i));
        }
    }

    private Set<SourceColumn> inPlace(List<? extends List<? extends Expression>> rows, int place) {
        Set<SourceColumn> found = new LinkedHashSet<>();
        for (List<? extends Expression> row : rows) {
            new ExpressionLineage(this, sources, found).add(row.get(place), SourceKind.IDENTITY, false);
        }
        return found;
    }

    /** A node may pass columns on with new ids, each in the place of the old one. */
    private void passed(LogicalPlan node, List<LogicalPlan> children) {
        List<Attribute> output = indexed(node.output());
        for (LogicalPlan child : children) {
            sources.pass(output, indexed(child.output()));
        }
    }

    private static <T> List<T> indexed(Seq<T> values) {
        return new ArrayList<>(list(values));
    }
}
