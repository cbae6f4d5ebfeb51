package sluice.statements;

import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.spark.source.HasIcebergCatalog;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;

/**
 * Finds tables and views whose names are also read as the metadata, or a version, of another table.
 *
 * For `lake.shop.item.files`, Iceberg's catalog first looks for a table of that whole name, and then for the files of
 * `lake.shop.item`. A view is looked up if there is neither, as for `TAG_X`, which is no version to Iceberg.
 */
public final class PlantedTables {

    /**
     * Returns the full name of the first one that an analyzed query reads, if its last part matches `reserved`; else
     * null.
     */
    public String firstOf(Object dataset, String reserved) {
        Dataset query = (Dataset) dataset;
        CatalogManager catalogs = query.sparkSession().sessionState().catalogManager();
        return firstIn(query.queryExecution().analyzed(), reserved, catalogs);
    }

    /** Whether the levels of a schema are also the name of a table in the catalog. */
    public static boolean isTable(CatalogPlugin catalog, String[] levels) {
        if (!(catalog instanceof HasIcebergCatalog)) {
            return false;
        }
        try {
            return ((HasIcebergCatalog) catalog).icebergCatalog().tableExists(TableIdentifier.of(levels));
        } catch (IllegalArgumentException noTable) {
            // A schema of one level that has a reserved name itself.
            return false;
        }
    }

    private static String firstIn(LogicalPlan node, String reserved, CatalogManager catalogs) {
        if (node instanceof SubqueryAlias && isPlanted((SubqueryAlias) node, reserved, catalogs)) {
            return partsOf((SubqueryAlias) node, 0).mkString(".");
        }
        String found = firstIn(node.children(), reserved, catalogs);
        return found != null ? found : firstIn(node.subqueries(), reserved, catalogs);
    }

    private static String firstIn(scala.collection.Iterable plans, String reserved, CatalogManager catalogs) {
        scala.collection.Iterator each = plans.iterator();
        while (each.hasNext()) {
            String found = firstIn((LogicalPlan) each.next(), reserved, catalogs);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** Spark gives relations from a catalog their full name; an alias of the text has one part. */
    private static boolean isPlanted(SubqueryAlias alias, String reserved, CatalogManager catalogs) {
        scala.collection.immutable.Seq qualifier = alias.identifier().qualifier();
        if (qualifier.length() < 2 || !alias.identifier().name().matches(reserved)
                || isRead(alias.child(), partsOf(alias, 1).mkString("."))) {
            return false;
        }
        String[] levels = new String[qualifier.length() - 1];
        for (int i = 0; i < levels.length; i++) {
            levels[i] = (String) qualifier.apply(i + 1);
        }
        return isTable(catalogs.catalog((String) qualifier.head()), levels);
    }

    /** Whether this is the metadata itself, or a version: the name of a version's table does not have that part. */
    private static boolean isRead(LogicalPlan plan, String name) {
        if (!(plan instanceof DataSourceV2Relation)) {
            return false;
        }
        Object table = ((DataSourceV2Relation) plan).table();
        if (!(table instanceof SparkTable)) {
            return true;
        }
        org.apache.iceberg.Table read = ((SparkTable) table).table();
        return read instanceof BaseMetadataTable || !read.name().endsWith("." + name);
    }

    private static scala.collection.Iterable partsOf(SubqueryAlias alias, int first) {
        scala.collection.immutable.Seq qualifier = alias.identifier().qualifier();
        return (scala.collection.Iterable) ((scala.collection.immutable.Seq) qualifier.drop(first))
            .appended(alias.identifier().name());
    }
}
