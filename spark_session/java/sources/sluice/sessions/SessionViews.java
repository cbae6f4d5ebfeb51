package sluice.sessions;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.map;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.catalog.CatalogTableType;
import org.apache.spark.sql.catalyst.catalog.SessionCatalog;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructField;
import scala.Option;

/**
 * Reads views of Spark's own catalog, which may be a Hive metastore.
 *
 * <p>The catalog does not say when a view was changed. But an analyzed plan has the text that it was made from.
 */
public final class SessionViews {

    private static final String SESSION_CATALOG = "spark_catalog";
    private static final int PARTS = 3;

    private SessionViews() {}

    /** Returns what gives a view its rows: its text, what its names belong to, its settings and its columns. */
    public static List<Object> textOf(CatalogTable view) {
        List<List<String>> columns = new ArrayList<>();
        for (StructField field : view.schema().fields()) {
            columns.add(List.of(field.name(), field.dataType().catalogString()));
        }
        return Arrays.asList(
            view.viewText().isEmpty() ? null : view.viewText().get(),
            list(view.viewCatalogAndNamespace()),
            columns,
            list(view.viewQueryColumnNames()),
            new TreeMap<>(map(view.viewSQLConfigs())));
    }

    /** Returns the view as it is now; null if these are not the parts of a view of the session catalog. */
    static CatalogTable find(SparkSession session, List<String> parts) throws Exception {
        if (parts.size() != PARTS || !SESSION_CATALOG.equals(parts.get(0))) {
            return null;
        }
        SessionCatalog catalog = session.sessionState().catalog();
        try {
            TableIdentifier name = new TableIdentifier(parts.get(2), Option.apply(parts.get(1)));
            CatalogTable found = catalog.getTableMetadata(name);
            return found.tableType().equals(CatalogTableType.VIEW()) ? found : null;
        } catch (NoSuchTableException missing) {
            return null;
        }
    }
}
