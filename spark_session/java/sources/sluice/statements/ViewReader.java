package sluice.statements;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.CTESubstitution$;
import org.apache.spark.sql.catalyst.analysis.NoSuchViewException;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.optimizer.InlineCTE;
import org.apache.spark.sql.catalyst.optimizer.SimplifyCasts$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.catalyst.util.CharVarcharUtils;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.View;
import org.apache.spark.sql.connector.catalog.ViewCatalog;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Reads the views of a catalog, and whether Spark reads a query as it reads a view.
 */
public final class ViewReader {

    /**
     * Returns the JSON that spark_session/engine/views.py reads, or "null" if there is no such view. It is also
     * "null" if its name matches `reserved` and is that of a table's metadata: PlantedTables.java reports that for
     * the query.
     */
    public String view(Object session, String catalog, String schema, String name, String reserved)
            throws Exception {
        CatalogPlugin plugin = ((SparkSession) session).sessionState().catalogManager().catalog(catalog);
        if (!(plugin instanceof ViewCatalog)) {
            return "null";
        }
        if (name.matches(reserved) && PlantedTables.isTable(plugin, schema.split("\\."))) {
            return "null";
        }
        View view;
        try {
            view = ((ViewCatalog) plugin).loadView(Identifier.of(schema.split("\\."), name));
        } catch (NoSuchViewException missing) {
            return "null";
        }
        Map told = new LinkedHashMap();
        told.put("sql", view.query());
        told.put("catalog", view.currentCatalog());
        told.put("namespace", Arrays.asList(view.currentNamespace()));
        told.put("columns", columnsOf(view.schema()));
        return new ObjectMapper().writeValueAsString(told);
    }

    /**
     * Whether a query around the text could give its names another meaning: it has a name of one part that is not one
     * of its own common table expressions, or outer expressions override inner ones.
     */
    public boolean isOpen(Object session, String sql) throws Exception {
        SessionState state = ((SparkSession) session).sessionState();
        String policy = state.conf().getConfString("spark.sql.legacy.ctePrecedencePolicy", "CORRECTED");
        LogicalPlan parsed = state.sqlParser().parsePlan(sql);
        return !policy.equalsIgnoreCase("CORRECTED") || hasOpenNameIn(CTESubstitution$.MODULE$.apply(parsed));
    }

    /**
     * Returns JSON: the columns of the query, or "null" if it differs from the view: both must give all columns of
     * the same plan, in its order, under names of their own.
     *
     * The plans below are compared, because a view's columns have none of the metadata of a table's.
     */
    public String columnsIfAlike(Object view, Object query) throws Exception {
        LogicalPlan one = ((Dataset) view).queryExecution().analyzed();
        LogicalPlan other = ((Dataset) query).queryExecution().analyzed();
        LogicalPlan below = below(one);
        LogicalPlan otherBelow = below(other);
        boolean isAlike = below != null && otherBelow != null && !isPadded(other.schema())
            && below.canonicalized().equals(otherBelow.canonicalized());
        return new ObjectMapper().writeValueAsString(isAlike ? columnsOf(other.schema()) : null);
    }

    /** Returns the plan of `SELECT columns FROM (plan) AS name(columns)`, or of a view; null of anything else. */
    private static LogicalPlan below(LogicalPlan analyzed) {
        // A cast of a column to its own type does nothing.
        LogicalPlan plan = (LogicalPlan) SimplifyCasts$.MODULE$.apply(new InlineCTE(true, false).apply(analyzed));
        LogicalPlan view = childOf(plan, Project.class);
        LogicalPlan columns = childOf(view, SubqueryAlias.class);
        LogicalPlan below = childOf(columns, Project.class);
        return below != null && isInOrder(plan, view) && isInOrder(columns, below) ? below : null;
    }

    private static LogicalPlan childOf(LogicalPlan plan, Class expected) {
        return expected.isInstance(plan) ? (LogicalPlan) list(plan.children()).get(0) : null;
    }

    /** Whether a projection gives all columns of the plan below it, in their order. */
    private static boolean isInOrder(LogicalPlan projection, LogicalPlan below) {
        scala.collection.Seq given = ((Project) projection).projectList();
        boolean isInOrder = given.length() == list(below.output()).size();
        for (int i = 0; isInOrder && i < given.length(); i++) {
            Object column = given.apply(i) instanceof Alias ? ((Alias) given.apply(i)).child() : given.apply(i);
            isInOrder = column instanceof Attribute
                && ((Attribute) column).exprId().equals(((Attribute) list(below.output()).get(i)).exprId());
        }
        return isInOrder;
    }

    /** Spark compares a column declared as CHAR in its own way; as a view's column it is text. */
    private static boolean isPadded(StructType schema) {
        StructField[] fields = schema.fields();
        for (int i = 0; i < fields.length; i++) {
            if (CharVarcharUtils.getRawTypeString(fields[i].metadata()).isDefined()) {
                return true;
            }
        }
        return false;
    }

    private static List columnsOf(StructType schema) {
        List columns = new ArrayList();
        StructField[] fields = schema.fields();
        for (int i = 0; i < fields.length; i++) {
            columns.add(Arrays.asList(new Object[] {fields[i].name(), fields[i].dataType().catalogString()}));
        }
        return columns;
    }

    /** Visits everything that the value holds: some nodes keep a plan in a field that is not among their children. */
    private static boolean hasOpenNameIn(Object value) {
        if (value instanceof UnresolvedRelation && list(((UnresolvedRelation) value).multipartIdentifier()).size() == 1) {
            return true;
        }
        if (value instanceof scala.collection.Iterable) {
            return isAnyOpen(((scala.collection.Iterable) value).iterator());
        }
        if (value instanceof TreeNode || value instanceof scala.Option || value instanceof scala.Product) {
            return isAnyOpen(((scala.Product) value).productIterator());
        }
        return false;
    }

    private static boolean isAnyOpen(scala.collection.Iterator values) {
        while (values.hasNext()) {
            if (hasOpenNameIn(values.next())) {
                return true;
            }
        }
        return false;
    }
}
