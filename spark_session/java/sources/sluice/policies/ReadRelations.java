package sluice.policies;

import static sluice.collections.Lists.list;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoopRef;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.Option;
import sluice.sessions.SessionViews;

/** The relations of an analyzed query, as the JSON of ReadTables has them. */
final class ReadRelations extends PlanWalk {

    private static final String VIEW = "VIEW";

    private final Set<Map<String, Object>> views = new LinkedHashSet<>();
    private final Set<Map<String, Object>> tables = new LinkedHashSet<>();
    private final Set<String> unknown = new LinkedHashSet<>();

    Set<Map<String, Object>> views() {
        return views;
    }

    Set<Map<String, Object>> tables() {
        return tables;
    }

    Set<String> unknown() {
        return unknown;
    }

    @Override
    protected List<String> viewOf(LogicalPlan node) {
        List<String> name = RelationNames.viewOf(node);
        return name == null ? null : RelationNames.inLowerCase(name);
    }

    @Override
    protected void visit(LogicalPlan node) {
        List<String> view = RelationNames.viewOf(node);
        if (view != null) {
            if (!isIn(path(), RelationNames.inLowerCase(view))) {
                Map<String, Object> found = at(view);
                found.put("text", textOf(node));
                views.add(found);
            }
        } else if (node instanceof SubqueryAlias alias && isViewWithoutName(alias)) {
            unknown.add("a view whose name is computed in another view");
        } else if (list(node.children()).isEmpty() && !isWithoutTable(node)) {
            collectTable(node);
        }
    }

    /** Returns what a view of the session catalog was made from; null for other views. */
    private static List<Object> textOf(LogicalPlan node) {
        LogicalPlan below = node instanceof SubqueryAlias alias ? alias.child() : node;
        return below instanceof View view ? SessionViews.textOf(view.desc()) : null;
    }

    private Map<String, Object> at(List<String> name) {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("name", name);
        found.put("path", path());
        return found;
    }

    private void collectTable(LogicalPlan node) {
        List<String> name = RelationNames.nameOf(node);
        if (name == null) {
            unknown.add(node.getClass().getSimpleName());
            return;
        }
        Map<String, Object> table = at(name);
        table.put("parts", RelationNames.identifiedBy(node, name));
        table.put("metadata", RelationNames.metadataOf(node));
        table.put("columns", node instanceof DataSourceV2Relation relation ? metadataColumnsOf(relation) : List.of());
        tables.add(table);
    }

    /** Names in texts of views are completed, except those that are computed. */
    private static boolean isViewWithoutName(SubqueryAlias alias) {
        if (!(alias.child() instanceof Project columns)) {
            return false;
        }
        Option<String> around = viewOfText(alias);
        Option<String> below = viewOfText(columns.child());
        return around.isDefined() && below.isDefined() && !around.equals(below);
    }

    /** Returns the name of the view whose text a node is a part of, if it is known. */
    private static Option<String> viewOfText(LogicalPlan node) {
        Option<String> type = node.origin().objectType();
        return type.isDefined() && VIEW.equals(type.get()) ? node.origin().objectName() : Option.empty();
    }

    private static boolean isWithoutTable(LogicalPlan node) {
        return node instanceof LocalRelation || node instanceof OneRowRelation || node instanceof Range
            || node instanceof CTERelationRef || node instanceof UnionLoopRef;
    }

    private static List<String> metadataColumnsOf(DataSourceV2Relation relation) {
        Set<String> known = Arrays.stream(relation.table().columns()).map(Column::name).collect(Collectors.toSet());
        return list(relation.output()).stream().map(Attribute::name).filter(name -> !known.contains(name)).toList();
    }
}
