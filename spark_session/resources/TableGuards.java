import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.CTESubstitution$;
import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.analysis.UpdateAttributeNullability$;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.HiveTableRelation;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal$;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.SparkPartitionID;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnionLoopRef;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SessionState;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.NullType$;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;
import scala.runtime.AbstractFunction1;
import scala.runtime.AbstractPartialFunction;

/**
 * Lists the tables of an analyzed query, and puts row filters and column masks between the query and its tables.
 *
 * The analyzed plan is the judge, because only it has all tables: those of views, of common table expressions, at
 * versions, and under names that are computed.
 *
 * A guarded table has new columns of its own, and what stands above has the columns that the query was analyzed with.
 * A mask that used the column's own identity would look to the optimizer like a projection without effect, and would
 * be dropped.
 */
public final class TableGuards {
    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Option NONE = Option.apply(null);
    private static final scala.collection.immutable.Seq NOTHING =
        CollectionConverters.asScala(new ArrayList()).toSeq();

    /**
     * Returns JSON: {"names": [["lake", "shop", "v"], …], "tables": [{"name": ["lake", "shop", "item"], "metadata":
     * "FILES", "parts": [as it was named], "columns": ["_file", …]}, …], "unknown": ["…"]}.
     *
     * `names` has the full name of each relation in the text, and of views that these read; common table expressions
     * are left out, and names of one part stay as they are if a temporary view has them. `tables` has every table
     * that is read, with the kind of its metadata if that is read, and the metadata columns that are read. `unknown`
     * has the kinds of relations whose tables cannot be told.
     */
    public String read(Object session, String sql, Object dataset) throws Exception {
        ParserInterface parser = ((SparkSession) session).sessionState().sqlParser();
        Set names = new LinkedHashSet();
        Set written = new LinkedHashSet();
        collectNames((LogicalPlan) CTESubstitution$.MODULE$.apply(parser.parsePlan(sql)), written);
        java.util.Iterator each = written.iterator();
        while (each.hasNext()) {
            names.add(inFull((List) each.next(), ((SparkSession) session).sessionState()));
        }
        Relations found = new Relations();
        found.collect(((Dataset) dataset).queryExecution().analyzed());
        names.addAll(found.views);
        Map all = new LinkedHashMap();
        all.put("names", names);
        all.put("tables", found.tables);
        all.put("unknown", found.unknown);
        return MAPPER.writeValueAsString(all);
    }

    /**
     * Returns the query over its guarded tables. `restrictions` is JSON: for each table's name in lower case, as a
     * list of parts, {"name": […], "rowFilter": "region = 'A'" or null, "masks": {"card": "…"}}.
     */
    public Object guarded(Object session, Object dataset, String restrictions) throws Exception {
        final SparkSession spark = (SparkSession) session;
        final Map byName = new LinkedHashMap();
        List all = (List) MAPPER.readValue(restrictions, List.class);
        for (int i = 0; i < all.size(); i++) {
            Map restriction = (Map) all.get(i);
            byName.put(restriction.get("name"), new Restriction(restriction, spark.sessionState().sqlParser()));
        }
        final Set guarded = Collections.newSetFromMap(new IdentityHashMap());
        LogicalPlan plan = ((Dataset) dataset).queryExecution().analyzed();
        final boolean canFail = FailingExpressions.isAnyIn(plan);
        LogicalPlan found = (LogicalPlan) plan.transformUpWithSubqueries(new AbstractPartialFunction() {
            public boolean isDefinedAt(Object node) {
                return true;
            }

            public Object applyOrElse(Object node, scala.Function1 otherwise) {
                Restriction restriction = restrictionOf((LogicalPlan) node, byName);
                return restriction == null
                    ? withNullableColumns((LogicalPlan) node)
                    : guard(spark, (LogicalPlan) node, restriction, guarded, canFail);
            }
        });
        Unguarded unguarded = new Unguarded(byName, guarded);
        unguarded.collect(found);
        if (unguarded.isAny) {
            throw new IllegalStateException("A table that has policies is read without its guard.");
        }
        return Dataset$.MODULE$.ofRows(spark, (LogicalPlan) UpdateAttributeNullability$.MODULE$.apply(found));
    }

    /** Returns the filter and masks over a new instance of the table, with the columns that the query reads. */
    private static LogicalPlan guard(
            SparkSession spark, LogicalPlan table, Restriction restriction, Set guarded, boolean canFail) {
        LogicalPlan fresh = ((MultiInstanceRelation) table).newInstance();
        guarded.add(fresh);
        LogicalPlan rows = restriction.rowFilter == null ? fresh : new Filter(restriction.rowFilter, fresh);
        List columns = new ArrayList();
        for (int i = 0; i < table.output().length(); i++) {
            Attribute shown = (Attribute) table.output().apply(i);
            Expression mask = (Expression) restriction.masks.get(shown.name().toLowerCase(Locale.ROOT));
            columns.add(named(mask == null ? (Expression) fresh.output().apply(i) : mask, shown));
        }
        LogicalPlan plan = new Project(CollectionConverters.asScala(columns).toSeq(), rows);
        LogicalPlan analyzed = Dataset$.MODULE$.ofRows(spark, plan).queryExecution().analyzed();
        LogicalPlan masked = withTypes(analyzed, table);
        boolean isApart = restriction.rowFilter != null && (canFail || hasFailingMask((Project) masked));
        return isApart ? withRowsApart((Project) masked) : masked;
    }

    private static boolean hasFailingMask(Project masked) {
        for (int i = 0; i < masked.projectList().length(); i++) {
            if (FailingExpressions.canFail((Expression) masked.projectList().apply(i))) {
                return true;
            }
        }
        return false;
    }

    /**
     * Lets nothing of the query see a row before the row filter has let it through.
     *
     * Spark moves no condition below a filter whose condition is not deterministic, and merges no filter with it.
     * This one is true for every row. The row filter stays below it, where the source gets it.
     */
    private static LogicalPlan withRowsApart(Project masked) {
        Expression always = new GreaterThanOrEqual(new SparkPartitionID(), Literal$.MODULE$.apply(Integer.valueOf(0)));
        return new Project(masked.projectList(), new Filter(always, masked.child()));
    }

    private static Alias named(Expression value, Attribute shown) {
        return new Alias(value, shown.name(), shown.exprId(), shown.qualifier(), Option.apply(shown.metadata()), NOTHING);
    }

    /** Masks keep their columns' types; NULL takes any. */
    private static LogicalPlan withTypes(LogicalPlan analyzed, LogicalPlan table) {
        Project project = (Project) analyzed;
        List columns = new ArrayList();
        for (int i = 0; i < table.output().length(); i++) {
            Attribute shown = (Attribute) table.output().apply(i);
            Alias masked = (Alias) project.projectList().apply(i);
            DataType type = shown.dataType();
            if (masked.child().dataType() == NullType$.MODULE$) {
                columns.add(named(new Cast(masked.child(), type, NONE, Cast.apply$default$4()), shown));
            } else if (DataType.equalsIgnoreNullability(masked.child().dataType(), type)) {
                columns.add(masked);
            } else {
                throw new IllegalStateException(
                    "The mask of the column " + shown.name() + " is a " + masked.child().dataType().sql()
                    + ", and the column is a " + type.sql() + ".");
            }
        }
        return new Project(CollectionConverters.asScala(columns).toSeq(), project.child());
    }

    /** A mask may give NULL for a column that has none; these nodes say so by a copy of their columns. */
    private static LogicalPlan withNullableColumns(LogicalPlan node) {
        if (!(node instanceof CTERelationRef || node instanceof UnionLoopRef)) {
            return node;
        }
        Object[] arguments = new Object[node.productArity()];
        for (int i = 0; i < arguments.length; i++) {
            Object argument = node.productElement(i);
            arguments[i] = argument == node.output() ? nullable((scala.collection.Seq) argument) : argument;
        }
        return (LogicalPlan) node.makeCopy(arguments);
    }

    private static Object nullable(scala.collection.Seq columns) {
        return columns.map(new AbstractFunction1() {
            public Object apply(Object column) {
                return ((Attribute) column).withNullability(true);
            }
        });
    }

    private static Restriction restrictionOf(LogicalPlan node, Map byName) {
        List name = nameOf(node);
        return name == null ? null : (Restriction) byName.get(inLowerCase(name));
    }

    private static List inLowerCase(List name) {
        List lower = new ArrayList();
        for (int i = 0; i < name.size(); i++) {
            lower.add(((String) name.get(i)).toLowerCase(Locale.ROOT));
        }
        return lower;
    }

    /** Returns the parts of the name of the table that a relation reads; null for other nodes, and if it has none. */
    static List nameOf(LogicalPlan node) {
        if (node instanceof DataSourceV2Relation) {
            return nameOfV2((DataSourceV2Relation) node);
        }
        if (node instanceof LogicalRelation) {
            Option table = ((LogicalRelation) node).catalogTable();
            return table.isEmpty() ? null : partsOf(((CatalogTable) table.get()).identifier());
        }
        return node instanceof HiveTableRelation ? partsOf(((HiveTableRelation) node).tableMeta().identifier()) : null;
    }

    private static List nameOfV2(DataSourceV2Relation relation) {
        if (relation.catalog().isEmpty() || relation.identifier().isEmpty()) {
            return null;
        }
        Identifier identifier = (Identifier) relation.identifier().get();
        List parts = partsOf((CatalogPlugin) relation.catalog().get(), identifier);
        if (!(relation.table() instanceof SparkTable)) {
            return parts;
        }
        // `lake.shop.item.files` and `lake.shop.item.tag_audit` read `lake.shop.item`.
        String name = baseOf(((SparkTable) relation.table()).table()).name();
        for (int left = parts.size(); left >= Math.max(parts.size() - 2, 3); left--) {
            List base = parts.subList(0, left);
            if (name.equalsIgnoreCase(String.join(".", base))) {
                return new ArrayList(base);
            }
        }
        return null;
    }

    /** Returns the full name by which a relation was looked up: `lake.shop.item.files`. */
    private static List identifiedBy(LogicalPlan node, List name) {
        if (!(node instanceof DataSourceV2Relation)) {
            return name;
        }
        DataSourceV2Relation relation = (DataSourceV2Relation) node;
        return partsOf((CatalogPlugin) relation.catalog().get(), (Identifier) relation.identifier().get());
    }

    private static List partsOf(CatalogPlugin catalog, Identifier identifier) {
        List parts = new ArrayList();
        parts.add(catalog.name());
        parts.addAll(Arrays.asList(identifier.namespace()));
        parts.add(identifier.name());
        return parts;
    }

    /** Completes a name as Spark does: by the session's catalog and schema. */
    private static List inFull(List parts, SessionState state) {
        CatalogManager catalogs = state.catalogManager();
        List full = new ArrayList();
        if (parts.size() == 1) {
            if (state.catalog().getTempView((String) parts.get(0)).isDefined()) {
                return parts;
            }
            full.add(catalogs.currentCatalog().name());
            full.addAll(Arrays.asList(catalogs.currentNamespace()));
        } else if (!catalogs.isCatalogRegistered((String) parts.get(0))) {
            full.add(catalogs.currentCatalog().name());
        }
        full.addAll(parts);
        return full;
    }

    private static org.apache.iceberg.Table baseOf(org.apache.iceberg.Table table) {
        return table instanceof BaseMetadataTable ? ((BaseMetadataTable) table).table() : table;
    }

    private static String metadataOf(LogicalPlan node) {
        if (node instanceof DataSourceV2Relation && ((DataSourceV2Relation) node).table() instanceof SparkTable) {
            Object table = ((SparkTable) ((DataSourceV2Relation) node).table()).table();
            if (table instanceof BaseMetadataTable) {
                String kind = table.getClass().getSimpleName();
                return kind.replaceAll("Table$", "").replaceAll("([a-z])([A-Z])", "$1_$2").toUpperCase(Locale.ROOT);
            }
        }
        return null;
    }

    private static List partsOf(TableIdentifier identifier) {
        List parts = new ArrayList();
        parts.add(identifier.catalog().isDefined() ? (String) identifier.catalog().get() : "spark_catalog");
        parts.add(identifier.database().isDefined() ? (String) identifier.database().get() : "default");
        parts.add(identifier.table());
        return parts;
    }

    private static void collectNames(Object value, Set names) {
        if (value instanceof UnresolvedRelation) {
            names.add(partsOf(((UnresolvedRelation) value).multipartIdentifier()));
        }
        if (value instanceof scala.collection.Iterable) {
            collectAllNames(((scala.collection.Iterable) value).iterator(), names);
        } else if (value instanceof TreeNode || value instanceof scala.Option || value instanceof scala.Product) {
            collectAllNames(((scala.Product) value).productIterator(), names);
        }
    }

    private static void collectAllNames(scala.collection.Iterator values, Set names) {
        while (values.hasNext()) {
            collectNames(values.next(), names);
        }
    }

    private static List partsOf(scala.collection.Seq parts) {
        List found = new ArrayList();
        for (int i = 0; i < parts.length(); i++) {
            found.add(parts.apply(i));
        }
        return found;
    }

    /** What a principal sees of a table. Expressions of masks are by column, in lower case. */
    private static final class Restriction {
        private final Expression rowFilter;
        private final Map masks = new LinkedHashMap();

        Restriction(Map texts, ParserInterface parser) throws Exception {
            String predicate = (String) texts.get("rowFilter");
            rowFilter = predicate == null ? null : parser.parseExpression(predicate);
            java.util.Iterator entries = ((Map) texts.get("masks")).entrySet().iterator();
            while (entries.hasNext()) {
                Map.Entry mask = (Map.Entry) entries.next();
                masks.put(mask.getKey(), parser.parseExpression((String) mask.getValue()));
            }
        }
    }

    /** Visits each plan of a plan: some nodes keep one in a field that is not among their children. */
    private abstract static class Walk {

        abstract void visit(LogicalPlan node);

        void collect(Object value) {
            if (value instanceof LogicalPlan) {
                visit((LogicalPlan) value);
            }
            if (value instanceof LocalRelation) {
                // Its rows hold no plans, and may be many.
                return;
            }
            if (value instanceof scala.collection.Iterable) {
                collectAll(((scala.collection.Iterable) value).iterator());
            } else if (value instanceof TreeNode || value instanceof scala.Option || value instanceof scala.Product) {
                collectAll(((scala.Product) value).productIterator());
            }
        }

        private void collectAll(scala.collection.Iterator values) {
            while (values.hasNext()) {
                collect(values.next());
            }
        }
    }

    /** The relations of an analyzed query. */
    private static final class Relations extends Walk {
        private final Set views = new LinkedHashSet();
        private final Set tables = new LinkedHashSet();
        private final Set unknown = new LinkedHashSet();

        void visit(LogicalPlan node) {
            if (node instanceof SubqueryAlias && isFromCatalog((SubqueryAlias) node)) {
                List parts = partsOf(((SubqueryAlias) node).identifier().qualifier());
                parts.add(((SubqueryAlias) node).identifier().name());
                views.add(parts);
            } else if (node instanceof View && !((View) node).isTempView()) {
                views.add(TableGuards.partsOf(((View) node).desc().identifier()));
            } else if (node.children().isEmpty() && !isWithoutTable(node)) {
                collectTable(node);
            }
        }

        private void collectTable(LogicalPlan node) {
            List name = nameOf(node);
            if (name == null) {
                unknown.add(node.getClass().getSimpleName());
                return;
            }
            Map table = new LinkedHashMap();
            table.put("name", name);
            table.put("parts", identifiedBy(node, name));
            table.put("metadata", metadataOf(node));
            table.put("columns", node instanceof DataSourceV2Relation
                ? metadataColumnsOf((DataSourceV2Relation) node) : new ArrayList());
            tables.add(table);
        }

        /** Spark gives relations from a catalog their full name; an alias of the text has one part. */
        private static boolean isFromCatalog(SubqueryAlias alias) {
            return alias.identifier().qualifier().length() > 1 && nameOf(alias.child()) == null;
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
            for (int i = 0; i < relation.output().length(); i++) {
                String name = ((NamedExpression) relation.output().apply(i)).name();
                if (!known.contains(name)) {
                    found.add(name);
                }
            }
            return found;
        }
    }

    /** Whether a table that has a restriction is read by anything but its guard. */
    private static final class Unguarded extends Walk {
        private final Map byName;
        private final Set guarded;
        private boolean isAny;

        Unguarded(Map byName, Set guarded) {
            this.byName = byName;
            this.guarded = guarded;
        }

        void visit(LogicalPlan node) {
            isAny = isAny || (restrictionOf(node, byName) != null && !isGuarded(node));
        }

        /** The analyzer may copy a relation, but not its columns. */
        private boolean isGuarded(LogicalPlan node) {
            java.util.Iterator all = guarded.iterator();
            while (all.hasNext()) {
                if (((LogicalPlan) all.next()).sameOutput(node)) {
                    return true;
                }
            }
            return false;
        }
    }
}
