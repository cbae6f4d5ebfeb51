package sluice.writes;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.map;
import static sluice.collections.Lists.optional;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.spark.source.HasIcebergCatalog;
import org.apache.spark.sql.catalyst.analysis.ResolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedNamespace;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableOrView;
import org.apache.spark.sql.catalyst.plans.logical.CreateNamespace;
import org.apache.spark.sql.catalyst.plans.logical.CreateTable;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.DropNamespace;
import org.apache.spark.sql.catalyst.plans.logical.DropTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.RenameTable;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTable;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.SetTableProperties;
import org.apache.spark.sql.catalyst.plans.logical.TableSpecBase;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedTableSpec;
import org.apache.spark.sql.catalyst.plans.logical.UnsetTableProperties;
import org.apache.spark.sql.catalyst.plans.logical.views.CreateIcebergView;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import sluice.policies.RelationNames;

/** What a statement that changes a catalog names, and what it gives beside columns. */
final class DefinitionMembers {

    private DefinitionMembers() {}

    /** Returns the full name of what a statement creates, changes or drops; null for other statements. */
    static List<String> target(SparkSession session, LogicalPlan root) {
        for (LogicalPlan child : list(root.children())) {
            if (child instanceof UnresolvedNamespace named) {
                return schema(session, list(named.multipartIdentifier()));
            }
            if (child instanceof ResolvedIdentifier named) {
                // Iceberg's parser has completed the name of a view.
                return RelationNames.partsOf(named.catalog(), named.identifier());
            }
            List<String> parts = partsOf(child);
            if (parts != null) {
                return RelationNames.inFull(parts, session.sessionState());
            }
        }
        return null;
    }

    /**
     * Returns the full new name of a table: one part is a name in the schema of the table; several are a schema and a
     * name in its catalog, which may come first.
     */
    static List<String> renamedTo(SparkSession session, RenameTable rename, List<String> target) {
        List<String> given = list(rename.newName());
        if (given.size() > 2 && session.sessionState().catalogManager().isCatalogRegistered(given.get(0))) {
            return given;
        }
        List<String> full = new ArrayList<>();
        if (given.size() == 1) {
            full.addAll(target.subList(0, target.size() - 1));
        } else {
            full.add(target.get(0));
        }
        full.addAll(given);
        return full;
    }

    /** Whether the catalog of a full name is one of Iceberg's. */
    static boolean isInIceberg(SparkSession session, List<String> target) {
        CatalogManager catalogs = session.sessionState().catalogManager();
        return catalogs.isCatalogRegistered(target.get(0))
            && catalogs.catalog(target.get(0)) instanceof HasIcebergCatalog;
    }

    /**
     * Returns the members: `properties` by name (null: it is taken away), and `faults`, which say in words what such a
     * statement may not have here.
     */
    static Map<String, Object> of(LogicalPlan root) {
        Map<String, String> properties = new LinkedHashMap<>();
        List<String> faults = new ArrayList<>();
        if (root instanceof CreateTable create) {
            collect(create.tableSpec(), properties, faults);
        } else if (root instanceof ReplaceTable replace) {
            collect(replace.tableSpec(), properties, faults);
        } else if (root instanceof CreateTableAsSelect create) {
            collect(create.tableSpec(), properties, faults);
            collectOptions(map(create.writeOptions()), faults);
        } else if (root instanceof ReplaceTableAsSelect replace) {
            collect(replace.tableSpec(), properties, faults);
            collectOptions(map(replace.writeOptions()), faults);
        } else {
            collectOther(root, properties, faults);
        }
        return Map.of("properties", properties, "faults", faults);
    }

    private static void collectOther(LogicalPlan root, Map<String, String> properties, List<String> faults) {
        if (root instanceof SetTableProperties set) {
            properties.putAll(map(set.properties()));
        } else if (root instanceof UnsetTableProperties unset) {
            list(unset.propertyKeys()).forEach(name -> properties.put(name, null));
        } else if (root instanceof DropTable drop && drop.purge()) {
            faults.add("PURGE");
        } else if (root instanceof DropNamespace drop && drop.cascade()) {
            faults.add("CASCADE");
        } else if (root instanceof CreateNamespace create) {
            for (String name : map(create.properties()).keySet()) {
                if (!"comment".equals(name)) {
                    faults.add("location".equals(name) ? "LOCATION" : "properties of a schema");
                }
            }
        } else if (root instanceof CreateIcebergView create) {
            properties.putAll(map(create.properties()));
        } else if (root instanceof MergeIntoTable merge && merge.withSchemaEvolution()) {
            // Spark changes the table while it analyzes the statement, before anything is checked.
            faults.add("WITH SCHEMA EVOLUTION");
        }
    }

    private static void collect(TableSpecBase base, Map<String, String> properties, List<String> faults) {
        if (!(base instanceof UnresolvedTableSpec spec)) {
            faults.add("this form");
            return;
        }
        properties.putAll(map(spec.properties()));
        String provider = optional(spec.provider()).orElse("iceberg");
        if (!"iceberg".equalsIgnoreCase(provider)) {
            faults.add("USING " + provider);
        }
        addIf(spec.location().isDefined(), "LOCATION", faults);
        addIf(spec.external(), "EXTERNAL", faults);
        addIf(spec.serde().isDefined(), "a SerDe or STORED AS", faults);
        addIf(spec.collation().isDefined(), "DEFAULT COLLATION", faults);
        addIf(!list(spec.optionExpression().options()).isEmpty(), "OPTIONS", faults);
        addIf(!list(spec.constraints()).isEmpty(), "constraints", faults);
    }

    private static void collectOptions(Map<String, String> options, List<String> faults) {
        addIf(!options.isEmpty(), "OPTIONS", faults);
    }

    private static void addIf(boolean isThere, String words, List<String> faults) {
        if (isThere) {
            faults.add(words);
        }
    }

    private static List<String> partsOf(LogicalPlan child) {
        if (child instanceof UnresolvedIdentifier named) {
            return list(named.nameParts());
        }
        if (child instanceof UnresolvedTable named) {
            return list(named.multipartIdentifier());
        }
        return child instanceof UnresolvedTableOrView named ? list(named.multipartIdentifier()) : null;
    }

    private static List<String> schema(SparkSession session, List<String> parts) {
        CatalogManager catalogs = session.sessionState().catalogManager();
        List<String> full = new ArrayList<>();
        if (!catalogs.isCatalogRegistered(parts.get(0))) {
            full.add(catalogs.currentCatalog().name());
        }
        full.addAll(parts);
        return full;
    }
}
