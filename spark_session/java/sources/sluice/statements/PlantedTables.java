package sluice.statements;

import static sluice.collections.Lists.list;

import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.spark.source.HasIcebergCatalog;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import scala.collection.Seq;

/**
 * Finds tables and views whose names are also read as the metadata, or a version, of another table.
 *
 * <p>For `lake.shop.item.files`, Iceberg's catalog first looks for a table of that whole name, and then for the files
 * of `lake.shop.item`. A view is looked up if there is neither, as for `TAG_X`, which is no version to Iceberg.
 */
public final class PlantedTables {

    /**
     * Returns the full name of the first one that an analyzed query reads, if its last part matches `reserved`; else
     * null.
     */
    public String firstOf(Dataset<?> query, String reserved) {
        CatalogManager catalogs = query.sparkSession().sessionState().catalogManager();
        return firstIn(query.queryExecution().analyzed(), reserved, catalogs);
    }

    /** Whether the levels of a schema are also the name of a table in the catalog. */
    static boolean isTable(CatalogPlugin catalog, String[] levels) {
        if (!(catalog instanceof HasIcebergCatalog ofIceberg)) {
            return false;
        }
        try {
            return ofIceberg.icebergCatalog().tableExists(TableIdentifier.of(levels));
        } catch (IllegalArgumentException noTable) {
            // A schema of one level that has a reserved name itself.
            return false;
        }
    }

    /** Returns the full name of the first one below a node of an analyzed plan; null if there is none. */
    public static String firstIn(LogicalPlan node, String reserved, CatalogManager catalogs) {
        if (node instanceof SubqueryAlias alias && isPlanted(alias, reserved, catalogs)) {
            return String.join(".", partsOf(alias));
        }
        String found = firstIn(node.children(), reserved, catalogs);
        return found != null ? found : firstIn(node.subqueries(), reserved, catalogs);
    }

    private static String firstIn(Seq<LogicalPlan> plans, String reserved, CatalogManager catalogs) {
        for (LogicalPlan plan : list(plans)) {
            String found = firstIn(plan, reserved, catalogs);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** Spark gives relations from a catalog their full name; an alias of the text has one part. */
    private static boolean isPlanted(SubqueryAlias alias, String reserved, CatalogManager catalogs) {
        List<String> parts = partsOf(alias);
        int last = parts.size() - 1;
        if (last < 2 || !parts.get(last).matches(reserved)) {
            return false;
        }
        String inCatalog = String.join(".", parts.subList(1, parts.size()));
        String[] levels = parts.subList(1, last).toArray(String[]::new);
        return !isRead(alias.child(), inCatalog) && isTable(catalogs.catalog(parts.get(0)), levels);
    }

    /** Whether this is the metadata itself, or a version: the name of a version's table does not have that part. */
    private static boolean isRead(LogicalPlan plan, String name) {
        if (!(plan instanceof DataSourceV2Relation relation)) {
            return false;
        }
        if (!(relation.table() instanceof SparkTable found)) {
            return true;
        }
        Table read = found.table();
        return read instanceof BaseMetadataTable || !read.name().endsWith("." + name);
    }

    private static List<String> partsOf(SubqueryAlias alias) {
        List<String> parts = new ArrayList<>(list(alias.identifier().qualifier()));
        parts.add(alias.identifier().name());
        return parts;
    }
}
