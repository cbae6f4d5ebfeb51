package sluice.sessions;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.spark.source.SparkView;
import org.apache.iceberg.view.BaseView;
import org.apache.spark.sql.catalyst.analysis.NoSuchViewException;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.View;
import org.apache.spark.sql.connector.catalog.ViewCatalog;
import org.apache.spark.sql.types.StructField;

/** Reads what views are defined as now. */
public final class ViewDefinitions {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final String SESSION_VIEW = "of the session catalog";

    /**
     * Returns a JSON list: for each name of `names`, a JSON list of lists of parts, either null, if there is no such
     * view or its catalog does not say when it was changed, or {"text": [what gives the view its rows], "state": "…"}.
     * The state is another one after each change, even if the view is as it was before; with `ofSession`, also those of
     * Spark's own catalog are returned, which have no such state.
     */
    public String read(SparkSession session, String names, boolean ofSession) throws Exception {
        List<Map<String, Object>> found = new ArrayList<>();
        for (List<String> parts : MAPPER.readValue(names, new TypeReference<List<List<String>>>() {})) {
            CatalogTable own = ofSession ? SessionViews.find(session, parts) : null;
            found.add(own == null ? definitionOf(session, parts) : withoutState(own));
        }
        return MAPPER.writeValueAsString(found);
    }

    private static Map<String, Object> withoutState(CatalogTable view) {
        Map<String, Object> definition = new LinkedHashMap<>();
        definition.put("text", SessionViews.textOf(view));
        definition.put("state", SESSION_VIEW);
        return definition;
    }

    private static Map<String, Object> definitionOf(SparkSession session, List<String> parts) throws Exception {
        int last = parts.size() - 1;
        if (!(session.sessionState().catalogManager().catalog(parts.get(0)) instanceof ViewCatalog catalog)) {
            return null;
        }
        String[] namespace = parts.subList(1, last).toArray(String[]::new);
        View view;
        try {
            view = catalog.loadView(Identifier.of(namespace, parts.get(last)));
        } catch (NoSuchViewException missing) {
            return null;
        }
        if (!(view instanceof SparkView found) || !(found.view() instanceof BaseView ofIceberg)) {
            return null;
        }
        Map<String, Object> definition = new LinkedHashMap<>();
        definition.put("text", textOf(view));
        definition.put("state", ofIceberg.operations().current().metadataFileLocation());
        return definition;
    }

    /** Names without a catalog or schema belong to the view's own, and its columns are those that it was made with. */
    private static List<Object> textOf(View view) {
        List<List<String>> columns = new ArrayList<>();
        for (StructField field : view.schema().fields()) {
            columns.add(List.of(field.name(), field.dataType().catalogString()));
        }
        return Arrays.asList(view.query(), view.currentCatalog(), Arrays.asList(view.currentNamespace()), columns);
    }
}
