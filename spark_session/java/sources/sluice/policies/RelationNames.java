package sluice.policies;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.HiveTableRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SessionState;
import scala.Option;

/** The names of tables and views in plans: lists of parts, such as `lake`, `shop` and `item`. */
public final class RelationNames {

    private RelationNames() {
    }

    /** Returns the parts of the name of the table that a relation reads; null for other nodes, and if it has none. */
    public static List nameOf(LogicalPlan node) {
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
    public static List identifiedBy(LogicalPlan node, List name) {
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
    public static List inFull(List parts, SessionState state) {
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

    /** Returns the kind of metadata that a relation reads, such as FILES; null if it reads rows. */
    public static String metadataOf(LogicalPlan node) {
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

    /** Returns the parts of a name as a list. */
    public static List partsOf(scala.collection.Seq parts) {
        List found = new ArrayList();
        for (int i = 0; i < parts.length(); i++) {
            found.add(parts.apply(i));
        }
        return found;
    }

    /** Returns the name in lower case: policies compare names so. */
    public static List inLowerCase(List name) {
        List lower = new ArrayList();
        for (int i = 0; i < name.size(); i++) {
            lower.add(((String) name.get(i)).toLowerCase(Locale.ROOT));
        }
        return lower;
    }

    /**
     * Returns the parts of the name of the view that a node of an analyzed plan is; null for other nodes.
     *
     * A view of a catalog is an alias with its name as it was written, over its columns. Spark gives tables such an
     * alias, too. An alias of a text has one part, as a view has that was named by one part.
     */
    public static List viewOf(LogicalPlan node) {
        if (node instanceof View) {
            return ((View) node).isTempView() ? null : partsOf(((View) node).desc().identifier());
        }
        if (!(node instanceof SubqueryAlias)) {
            return null;
        }
        SubqueryAlias alias = (SubqueryAlias) node;
        if (list(alias.identifier().qualifier()).size() < 2 || nameOf(alias.child()) != null) {
            return null;
        }
        List parts = partsOf(alias.identifier().qualifier());
        parts.add(alias.identifier().name());
        return parts;
    }
}
