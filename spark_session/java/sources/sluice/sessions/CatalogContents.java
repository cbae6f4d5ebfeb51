package sluice.sessions;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.analysis.NoSuchNamespaceException;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsNamespaces;
import org.apache.spark.sql.connector.catalog.ViewCatalog;

/** Lists the schemas and the views of a catalog. */
public final class CatalogContents {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String COMMENT = "comment";

    /** Returns JSON: the levels and the comment of each schema, [[["shop", "north"], "…" or null], …]; `limit` at most. */
    public String schemas(SparkSession session, String catalog, int limit) throws JsonProcessingException {
        List<List<Object>> found = new ArrayList<>();
        if (pluginOf(session, catalog) instanceof SupportsNamespaces schemas) {
            collect(schemas, new String[0], found, limit);
        }
        return MAPPER.writeValueAsString(found);
    }

    private static void collect(SupportsNamespaces catalog, String[] parent, List<List<Object>> found, int limit) {
        for (String[] child : childrenOf(catalog, parent)) {
            if (found.size() >= limit) {
                return;
            }
            found.add(Arrays.asList(List.of(child), commentOf(catalog, child)));
            if (child.length > parent.length) {
                collect(catalog, child, found, limit);
            }
        }
    }

    private static String[][] childrenOf(SupportsNamespaces catalog, String[] parent) {
        try {
            return parent.length == 0 ? catalog.listNamespaces() : catalog.listNamespaces(parent);
        } catch (NoSuchNamespaceException gone) {
            return new String[0][];
        }
    }

    private static String commentOf(SupportsNamespaces catalog, String[] schema) {
        try {
            return catalog.loadNamespaceMetadata(schema).get(COMMENT);
        } catch (NoSuchNamespaceException gone) {
            return null;
        }
    }

    /** Returns JSON: the names of the views of a schema, `limit` at most; none if the catalog has no views. */
    public String views(SparkSession session, String catalog, String schema, int limit)
            throws JsonProcessingException, NoSuchNamespaceException {
        List<String> found = pluginOf(session, catalog) instanceof ViewCatalog views
            ? Arrays.stream(views.listViews(schema.split("\\."))).limit(limit).map(Identifier::name).toList()
            : List.of();
        return MAPPER.writeValueAsString(found);
    }

    private static CatalogPlugin pluginOf(SparkSession session, String catalog) {
        return session.sessionState().catalogManager().catalog(catalog);
    }
}
