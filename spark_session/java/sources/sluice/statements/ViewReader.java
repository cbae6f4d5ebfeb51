package sluice.statements;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.parts;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.CTESubstitution$;
import org.apache.spark.sql.catalyst.analysis.NoSuchViewException;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.optimizer.InlineCTE;
import org.apache.spark.sql.catalyst.optimizer.SimplifyCasts$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
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
import scala.Product;

/** Reads the views of a catalog, and whether Spark reads a query as it reads a view. */
public final class ViewReader {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /**
     * Returns the JSON that spark_session/engine/views.py reads, or "null" if there is no such view. It is also
     * "null" if its name matches `reserved` and is that of a table's metadata: PlantedTables.java reports that for
     * the query.
     */
    public String view(SparkSession session, String catalog, String schema, String name, String reserved)
            throws Exception {
        CatalogPlugin plugin = session.sessionState().catalogManager().catalog(catalog);
        String[] namespace = schema.split("\\.");
        if (!(plugin instanceof ViewCatalog views)) {
            return "null";
        }
        if (name.matches(reserved) && PlantedTables.isTable(plugin, namespace)) {
            return "null";
        }
        View view;
        try {
            view = views.loadView(Identifier.of(namespace, name));
        } catch (NoSuchViewException missing) {
            return "null";
        }
        Map<String, Object> told = new LinkedHashMap<>();
        told.put("sql", view.query());
        told.put("catalog", view.currentCatalog());
        told.put("namespace", Arrays.asList(view.currentNamespace()));
        told.put("columns", columnsOf(view.schema()));
        return MAPPER.writeValueAsString(told);
    }

    /**
     * Whether a query around the text could give its names another meaning: it has a name of one part that is not one
     * of its own common table expressions, or outer expressions override inner ones.
     */
    public boolean isOpen(SparkSession session, String sql) throws Exception {
        SessionState state = session.sessionState();
        String policy = state.conf().getConfString("spark.sql.legacy.ctePrecedencePolicy", "CORRECTED");
        LogicalPlan parsed = state.sqlParser().parsePlan(sql);
        return !policy.equalsIgnoreCase("CORRECTED") || hasOpenNameIn(CTESubstitution$.MODULE$.apply(parsed));
    }

    /**
     * Returns JSON: the columns of the query, or "null" if it differs from the view: both must give all columns of
     * the same plan, in its order, under names of their own.
     *
     * <p>The plans below are compared, because a view's columns have none of the metadata of a table's.
     */
    public String columnsIfAlike(Dataset<?> view, Dataset<?> query) throws Exception {
        StructType columns = query.queryExecution().analyzed().schema();
        LogicalPlan below = below(view.queryExecution().analyzed());
        LogicalPlan otherBelow = below(query.queryExecution().analyzed());
        boolean isAlike = below != null && otherBelow != null && !isPadded(columns)
            && below.canonicalized().equals(otherBelow.canonicalized());
        return MAPPER.writeValueAsString(isAlike ? columnsOf(columns) : null);
    }

    /** Returns the plan of `SELECT columns FROM (plan) AS name(columns)`, or of a view; null of anything else. */
    private static LogicalPlan below(LogicalPlan analyzed) {
        // A cast of a column to its own type does nothing.
        LogicalPlan plan = SimplifyCasts$.MODULE$.apply(new InlineCTE(true, false).apply(analyzed));
        if (plan instanceof Project given
                && given.child() instanceof SubqueryAlias view
                && view.child() instanceof Project columns
                && isInOrder(given, view)
                && isInOrder(columns, columns.child())) {
            return columns.child();
        }
        return null;
    }

    /** Whether a projection gives all columns of the plan below it, in their order. */
    private static boolean isInOrder(Project projection, LogicalPlan below) {
        List<NamedExpression> given = list(projection.projectList());
        if (given.size() != list(below.output()).size()) {
            return false;
        }
        Iterator<Attribute> columns = list(below.output()).iterator();
        for (NamedExpression each : given) {
            Object value = each instanceof Alias alias ? alias.child() : each;
            if (!(value instanceof Attribute column) || !column.exprId().equals(columns.next().exprId())) {
                return false;
            }
        }
        return true;
    }

    /** Spark compares a column declared as CHAR in its own way; as a view's column it is text. */
    private static boolean isPadded(StructType schema) {
        return Arrays.stream(schema.fields())
            .anyMatch(field -> CharVarcharUtils.getRawTypeString(field.metadata()).isDefined());
    }

    private static List<List<String>> columnsOf(StructType schema) {
        List<List<String>> columns = new ArrayList<>();
        for (StructField field : schema.fields()) {
            columns.add(List.of(field.name(), field.dataType().catalogString()));
        }
        return columns;
    }

    /** Visits everything that the value holds: some nodes keep a plan in a field that is not among their children. */
    static boolean hasOpenNameIn(Object value) {
        if (value instanceof UnresolvedRelation relation && list(relation.multipartIdentifier()).size() == 1) {
            return true;
        }
        if (value instanceof scala.collection.Iterable<?> values) {
            return isAnyOpen(iterable(values));
        }
        return value instanceof Product product && isAnyOpen(parts(product));
    }

    private static boolean isAnyOpen(Iterable<?> values) {
        for (Object value : values) {
            if (hasOpenNameIn(value)) {
                return true;
            }
        }
        return false;
    }
}
