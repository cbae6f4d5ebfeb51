package sluice.policies;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.Table;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.TableIdentifier;
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

/** The names of tables and views in plans: lists of parts, such as `lake`, `shop` and `item`. */
public final class RelationNames {

    private static final int METADATA_PARTS = 2;
    private static final int SHORTEST_NAME = 3;

    private RelationNames() {}

    /** Returns the parts of the name of the table that a relation reads; null for other nodes, and if it has none. */
    public static List<String> nameOf(LogicalPlan node) {
        if (node instanceof DataSourceV2Relation relation) {
            return nameOfV2(relation);
        }
        if (node instanceof LogicalRelation relation) {
            return relation.catalogTable().isEmpty() ? null : partsOf(relation.catalogTable().get().identifier());
        }
        return node instanceof HiveTableRelation relation ? partsOf(relation.tableMeta().identifier()) : null;
    }

    private static List<String> nameOfV2(DataSourceV2Relation relation) {
        if (relation.catalog().isEmpty() || relation.identifier().isEmpty()) {
            return null;
        }
        List<String> parts = partsOf(relation.catalog().get(), relation.identifier().get());
        if (!(relation.table() instanceof SparkTable found)) {
            return parts;
        }
        // `lake.shop.item.files` and `lake.shop.item.tag_audit` read `lake.shop.item`.
        Table table = found.table() instanceof BaseMetadataTable metadata ? metadata.table() : found.table();
        for (int left = parts.size(); left >= Math.max(parts.size() - METADATA_PARTS, SHORTEST_NAME); left--) {
            List<String> base = parts.subList(0, left);
            if (table.name().equalsIgnoreCase(String.join(".", base))) {
                return new ArrayList<>(base);
            }
        }
        return null;
    }

    /** Returns the full name by which a relation was looked up: `lake.shop.item.files`. */
    static List<String> identifiedBy(LogicalPlan node, List<String> name) {
        return node instanceof DataSourceV2Relation relation
            ? partsOf(relation.catalog().get(), relation.identifier().get())
            : name;
    }

    /** Completes a name as Spark does: by the session's catalog and schema. */
    public static List<String> inFull(List<String> parts, SessionState state) {
        CatalogManager catalogs = state.catalogManager();
        List<String> full = new ArrayList<>();
        if (parts.size() == 1) {
            if (state.catalog().getTempView(parts.get(0)).isDefined()) {
                return parts;
            }
            full.add(catalogs.currentCatalog().name());
            Collections.addAll(full, catalogs.currentNamespace());
        } else if (!catalogs.isCatalogRegistered(parts.get(0))) {
            full.add(catalogs.currentCatalog().name());
        }
        full.addAll(parts);
        return full;
    }

    /**
     * Completes the name of a table of one catalog: by the catalog, and a single part also by the session's schema if
     * that is one of this catalog. A name that begins with another catalog stays as it is.
     */
    public static List<String> inCatalog(List<String> parts, String catalog, SessionState state) {
        CatalogManager catalogs = state.catalogManager();
        List<String> full = new ArrayList<>();
        if (parts.size() < SHORTEST_NAME || !catalogs.isCatalogRegistered(parts.get(0))) {
            full.add(catalog);
        }
        if (parts.size() == 1 && catalogs.currentCatalog().name().equals(catalog)) {
            Collections.addAll(full, catalogs.currentNamespace());
        }
        full.addAll(parts);
        return full;
    }

    /** Returns the kind of metadata that a relation reads, such as FILES; null if it reads rows. */
    static String metadataOf(LogicalPlan node) {
        if (node instanceof DataSourceV2Relation relation
                && relation.table() instanceof SparkTable found
                && found.table() instanceof BaseMetadataTable metadata) {
            String kind = metadata.getClass().getSimpleName();
            return kind.replaceAll("Table$", "").replaceAll("([a-z])([A-Z])", "$1_$2").toUpperCase(Locale.ROOT);
        }
        return null;
    }

    /**
     * Returns the parts of the name of the view that a node of an analyzed plan is; null for other nodes.
     *
     * <p>A view of a catalog is an alias with its name as it was written, over its columns. Spark gives tables such an
     * alias, too. An alias of a text has one part, as a view has that was named by one part. A view of the session
     * catalog is a node of its own, below its alias: both have its name.
     */
    public static List<String> viewOf(LogicalPlan node) {
        if (node instanceof View view) {
            return view.isTempView() ? null : partsOf(view.desc().identifier());
        }
        if (!(node instanceof SubqueryAlias alias)) {
            return null;
        }
        List<String> parts = new ArrayList<>(list(alias.identifier().qualifier()));
        LogicalPlan below = alias.child();
        // Spark gives a table below a temporary view its alias twice.
        while (below instanceof SubqueryAlias inner && inner.identifier().equals(alias.identifier())) {
            below = inner.child();
        }
        if (parts.size() < 2 || nameOf(below) != null) {
            return null;
        }
        parts.add(alias.identifier().name());
        return parts;
    }

    /** Returns the name in lower case: policies compare names so. */
    static List<String> inLowerCase(List<String> name) {
        return name.stream().map(part -> part.toLowerCase(Locale.ROOT)).toList();
    }

    /** Returns the parts of the full name of something in a catalog. */
    public static List<String> partsOf(CatalogPlugin catalog, Identifier identifier) {
        List<String> parts = new ArrayList<>();
        parts.add(catalog.name());
        Collections.addAll(parts, identifier.namespace());
        parts.add(identifier.name());
        return parts;
    }

    private static List<String> partsOf(TableIdentifier identifier) {
        return List.of(
            identifier.catalog().isDefined() ? identifier.catalog().get() : "spark_catalog",
            identifier.database().isDefined() ? identifier.database().get() : "default",
            identifier.table());
    }
}
