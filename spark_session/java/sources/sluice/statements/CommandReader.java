package sluice.statements;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.iceberg.spark.SparkCatalog;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.execution.SparkSqlParser;
import sluice.policies.RelationNames;

/** Reads statements that are no queries, as Spark's own parser reads them. */
public final class CommandReader {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final TypeReference<List<String>> NAMES = new TypeReference<>() {};

    /**
     * Returns JSON: {"kind": "ShowTables", "others": ["UnresolvedNamespace"], "target": "NAMESPACE", "parts": ["lake",
     * "shop"], …}.
     *
     * <p>`kind` is the class of the statement, and `others` are the classes of the plans below it. `target` says what
     * `parts` name: NAMESPACE, RELATION, FUNCTION or IDENTIFIER; "CURRENT" and no parts are the session's own catalog
     * and schema. Further members are those of the statement's kind.
     *
     * <p>Iceberg's parser would complete the names of views, so that one without a catalog looks like one with it.
     */
    public String read(String sql) throws JsonProcessingException {
        LogicalPlan plan = new SparkSqlParser().parsePlan(sql);
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("kind", nameOf(plan));
        Set<String> others = new LinkedHashSet<>();
        for (LogicalPlan child : list(plan.children())) {
            collect(child, others);
            CommandMembers.putTarget(child, found);
        }
        found.put("others", others);
        CommandMembers.putOwn(plan, found);
        return MAPPER.writeValueAsString(found);
    }

    private static void collect(LogicalPlan plan, Set<String> names) {
        names.add(nameOf(plan));
        for (LogicalPlan child : list(plan.children())) {
            collect(child, names);
        }
    }

    /**
     * Returns the names of a catalog and its schema as Spark completes them, as JSON: ["lake", "shop"]. A catalog alone
     * has one name.
     */
    public String schema(SparkSession session, String parts, boolean isCurrent) throws JsonProcessingException {
        CatalogManager catalogs = session.sessionState().catalogManager();
        List<String> named = MAPPER.readValue(parts, NAMES);
        List<String> full = new ArrayList<>();
        if (isCurrent) {
            full.add(catalogs.currentCatalog().name());
            full.addAll(List.of(catalogs.currentNamespace()));
        } else if (named.isEmpty() || !catalogs.isCatalogRegistered(named.get(0))) {
            full.add(catalogs.currentCatalog().name());
        }
        full.addAll(named);
        return MAPPER.writeValueAsString(full);
    }

    /** Whether there is a schema; the parts are JSON, with its catalog. Says yes where a catalog cannot tell. */
    public boolean hasSchema(SparkSession session, String parts) throws JsonProcessingException {
        List<String> full = MAPPER.readValue(parts, NAMES);
        CatalogPlugin catalog = session.sessionState().catalogManager().catalog(full.get(0));
        return !(catalog instanceof SupportsNamespaces schemas) || schemas.namespaceExists(levels(full));
    }

    /** Whether there is a catalog of this name. */
    public boolean hasCatalog(SparkSession session, String name) {
        return session.sessionState().catalogManager().isCatalogRegistered(name);
    }

    /** Whether all tables of a catalog are those of Iceberg. */
    public boolean isOfIceberg(SparkSession session, String name) {
        return session.sessionState().catalogManager().catalog(name) instanceof SparkCatalog;
    }

    /** Makes a catalog and its schema the current ones; the schema's levels are joined by dots, null: its default. */
    public void useText(SparkSession session, String catalog, String schema) throws ParseException {
        CatalogManager catalogs = session.sessionState().catalogManager();
        catalogs.setCurrentCatalog(catalog);
        if (schema != null) {
            List<String> levels = list(session.sessionState().sqlParser().parseMultipartIdentifier(schema));
            catalogs.setCurrentNamespace(levels.toArray(new String[0]));
        }
    }

    /** Makes a catalog and its schema the current ones of a session; the parts are JSON. */
    public void use(SparkSession session, String parts) throws JsonProcessingException {
        List<String> full = MAPPER.readValue(parts, NAMES);
        CatalogManager catalogs = session.sessionState().catalogManager();
        catalogs.setCurrentCatalog(full.get(0));
        if (full.size() > 1) {
            catalogs.setCurrentNamespace(levels(full));
        }
    }

    /** Returns the full name of a relation as JSON; names of temporary views stay as they are. */
    public String relation(SparkSession session, String parts) throws JsonProcessingException {
        List<String> named = MAPPER.readValue(parts, NAMES);
        return MAPPER.writeValueAsString(RelationNames.inFull(named, session.sessionState()));
    }

    private static String[] levels(List<String> full) {
        return full.subList(1, full.size()).toArray(new String[0]);
    }

    private static String nameOf(LogicalPlan plan) {
        return plan.getClass().getSimpleName().replace("$", "");
    }
}
