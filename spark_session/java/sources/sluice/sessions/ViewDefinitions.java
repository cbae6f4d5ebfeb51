package sluice.sessions;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.iceberg.spark.source.SparkView;
import org.apache.iceberg.view.BaseView;
import org.apache.spark.sql.catalyst.analysis.NoSuchViewException;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.View;
import org.apache.spark.sql.connector.catalog.ViewCatalog;
import org.apache.spark.sql.types.StructField;

/** Reads what views are defined as now. */
public final class ViewDefinitions {
    private static final ObjectMapper MAPPER = new ObjectMapper();

    /**
     * Returns a JSON list: for each name of `names`, a JSON list of lists of parts, either null, if there is no such
     * view or its catalog does not say when it was changed, or {"text": [what gives the view its rows], "state": "…"}.
     * The state is another one after each change, even if the view is as it was before.
     */
    public String read(Object session, String names) throws Exception {
        List found = new ArrayList();
        List all = (List) MAPPER.readValue(names, List.class);
        for (int i = 0; i < all.size(); i++) {
            found.add(definitionOf((SparkSession) session, (List) all.get(i)));
        }
        return MAPPER.writeValueAsString(found);
    }

    private static Map definitionOf(SparkSession session, List parts) throws Exception {
        CatalogPlugin catalog = session.sessionState().catalogManager().catalog((String) parts.get(0));
        if (!(catalog instanceof ViewCatalog)) {
            return null;
        }
        List schema = parts.subList(1, parts.size() - 1);
        String[] namespace = (String[]) schema.toArray(new String[0]);
        View view;
        try {
            view = ((ViewCatalog) catalog).loadView(Identifier.of(namespace, (String) parts.get(parts.size() - 1)));
        } catch (NoSuchViewException missing) {
            return null;
        }
        if (!(view instanceof SparkView) || !(((SparkView) view).view() instanceof BaseView)) {
            return null;
        }
        Map found = new LinkedHashMap();
        found.put("text", textOf(view));
        found.put("state", ((BaseView) ((SparkView) view).view()).operations().current().metadataFileLocation());
        return found;
    }

    /** Names without a catalog or schema belong to the view's own, and its columns are those that it was made with. */
    private static List textOf(View view) {
        List columns = new ArrayList();
        StructField[] fields = view.schema().fields();
        for (int i = 0; i < fields.length; i++) {
            columns.add(Arrays.asList(new Object[] {fields[i].name(), fields[i].dataType().catalogString()}));
        }
        return Arrays.asList(new Object[] {
            view.query(), view.currentCatalog(), Arrays.asList(view.currentNamespace()), columns});
    }
}
