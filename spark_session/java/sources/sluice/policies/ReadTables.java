package sluice.policies;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.CTESubstitution$;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoopRef;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SessionState;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractPartialFunction;

/**
 * Lists the tables and views of an analyzed query.
 *
 * The analyzed plan is the judge, because only it has all tables: those of views, of common table expressions, at
 * versions, and under names that are computed.
 */
public final class ReadTables {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String VIEW = "VIEW";

    /**
     * Returns JSON: {"names": [["lake", "shop", "v"], …], "views": [{"name": ["lake", "shop", "v"], "path": []}, …],
     * "tables": [{"name": ["lake", "shop", "item"], "path": [["lake", "shop", "v"]], "metadata": "FILES", "parts": [as
     * it was named], "columns": ["_file", …]}, …], "unknown": ["…"]}.
     *
     * `names` has the full name of each relation in the text; common table expressions are left out, and names of one
     * part stay as they are if a temporary view has them. `views` has the views that are read, except those that the
     * text names without their catalog or schema. `tables` has every table that is read, with the kind of its metadata
     * if that is read, and the metadata columns that are read. `path` has the views around it in lower case, the
     * outermost first. `unknown` has the kinds of relations whose tables cannot be told.
     */
    public String read(Object session, String sql, Object dataset) throws Exception {
        SessionState state = ((SparkSession) session).sessionState();
        ParserInterface parser = state.sqlParser();
        Set written = new LinkedHashSet();
        collectNames((LogicalPlan) CTESubstitution$.MODULE$.apply(parser.parsePlan(sql)), written);
        Set names = new LinkedHashSet();
        for (Iterator each = written.iterator(); each.hasNext();) {
            names.add(RelationNames.inFull((List) each.next(), state));
        }
        Relations found = new Relations();
        found.collect(((Dataset) dataset).queryExecution().analyzed());
        Map all = new LinkedHashMap();
        all.put("names", names);
        all.put("views", found.views);
        all.put("tables", found.tables);
        all.put("unknown", found.unknown);
        return MAPPER.writeValueAsString(all);
    }

    /**
     * Analyzes a query again, with the full name of each relation that its text names.
     *
     * Only then does a view in the analyzed plan have its full name, and cannot be mistaken for an alias.
     */
    public Object inFull(Object session, Object dataset) {
        final SparkSession spark = (SparkSession) session;
        LogicalPlan parsed =
            (LogicalPlan) CTESubstitution$.MODULE$.apply(((Dataset) dataset).queryExecution().logical());
        LogicalPlan full = (LogicalPlan) parsed.transformUpWithSubqueries(new AbstractPartialFunction() {
            public boolean isDefinedAt(Object node) {
                return node instanceof UnresolvedRelation;
            }

            public Object applyOrElse(Object node, scala.Function1 otherwise) {
                return node instanceof UnresolvedRelation
                    ? inFull((UnresolvedRelation) node, spark.sessionState())
                    : node;
            }
        });
        return Dataset$.MODULE$.ofRows(spark, full);
    }

    private static UnresolvedRelation inFull(UnresolvedRelation relation, SessionState state) {
        List full = RelationNames.inFull(RelationNames.partsOf(relation.multipartIdentifier()), state);
        return new UnresolvedRelation(
            CollectionConverters.asScala(full).toSeq(), relation.options(), relation.isStreaming());
    }

    private static void collectNames(Object value, Set names) {
        if (value instanceof UnresolvedRelation) {
            names.add(RelationNames.partsOf(((UnresolvedRelation) value).multipartIdentifier()));
        }
        if (value instanceof scala.collection.Iterable) {
            collectAllNames(((scala.collection.Iterable) value).iterator(), names);
        } else if (value instanceof TreeNode || value instanceof Option || value instanceof scala.Product) {
            collectAllNames(((scala.Product) value).productIterator(), names);
        }
    }

    private static void collectAllNames(scala.collection.Iterator values, Set names) {
        while (values.hasNext()) {
            collectNames(values.next(), names);
        }
    }

    /** The relations of an analyzed query. */
    private static final class Relations extends PlanWalk {
        private final Set views = new LinkedHashSet();
        private final Set tables = new LinkedHashSet();
        private final Set unknown = new LinkedHashSet();

        protected List viewOf(LogicalPlan node) {
            List name = RelationNames.viewOf(node);
            return name == null ? null : RelationNames.inLowerCase(name);
        }

        protected void visit(LogicalPlan node) {
            List view = RelationNames.viewOf(node);
            if (view != null) {
                views.add(at(view));
            } else if (node instanceof SubqueryAlias && isViewWithoutName((SubqueryAlias) node)) {
                unknown.add("a view whose name is computed in another view");
            } else if (list(node.children()).isEmpty() && !isWithoutTable(node)) {
                collectTable(node);
            }
        }

        private Map at(List name) {
            Map found = new LinkedHashMap();
            found.put("name", name);
            found.put("path", path);
            return found;
        }

        private void collectTable(LogicalPlan node) {
            List name = RelationNames.nameOf(node);
            if (name == null) {
                unknown.add(node.getClass().getSimpleName());
                return;
            }
            Map table = at(name);
            table.put("parts", RelationNames.identifiedBy(node, name));
            table.put("metadata", RelationNames.metadataOf(node));
            table.put("columns", node instanceof DataSourceV2Relation
                ? metadataColumnsOf((DataSourceV2Relation) node) : new ArrayList());
            tables.add(table);
        }

        /** Names in texts of views are completed, except those that are computed. */
        private static boolean isViewWithoutName(SubqueryAlias alias) {
            if (!(alias.child() instanceof Project)) {
                return false;
            }
            Option around = viewOfText(alias);
            Option below = viewOfText(((Project) alias.child()).child());
            return around.isDefined() && below.isDefined() && !around.equals(below);
        }

        /** Returns the name of the view whose text a node is a part of, if it is known. */
        private static Option viewOfText(LogicalPlan node) {
            boolean isOfView = node.origin().objectType().isDefined() && VIEW.equals(node.origin().objectType().get());
            return isOfView ? node.origin().objectName() : Option.apply(null);
        }

        private static boolean isWithoutTable(LogicalPlan node) {
            return node instanceof LocalRelation || node instanceof OneRowRelation || node instanceof Range
                || node instanceof CTERelationRef || node instanceof UnionLoopRef;
        }

        private static List metadataColumnsOf(DataSourceV2Relation relation) {
            Set known = new LinkedHashSet();
            for (int i = 0; i < relation.table().columns().length; i++) {
                known.add(relation.table().columns()[i].name());
            }
            List found = new ArrayList();
            for (int i = 0; i < list(relation.output()).size(); i++) {
                String name = ((NamedExpression) list(relation.output()).get(i)).name();
                if (!known.contains(name)) {
                    found.add(name);
                }
            }
            return found;
        }
    }
}
