import java.lang.reflect.Field;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.classic.SparkSession$;
import org.apache.spark.sql.connector.catalog.CatalogManager;

/**
 * Opens a child session for one query, ready to parse, in one call.
 *
 * A session opens each catalog anew, with connections that only the garbage collector closes: a thousand
 * queries would exhaust a catalog's database. So the child gets a copy of the parent's map of open catalogs;
 * what it adds to the copy stays its own.
 */
public final class ChildSessions {

    /** A child of the root, at this catalog and schema; null leaves Spark's default. */
    public Object open(Object root, String catalog, String schema) throws Exception {
        SparkSession child = ((SparkSession) root).newSession();
        share((SparkSession) root, child);
        // Spark looks a thread's configuration up by its active session.
        SparkSession$.MODULE$.setActiveSession(child);
        CatalogManager manager = child.sessionState().catalogManager();
        if (catalog != null) {
            manager.setCurrentCatalog(catalog);
        }
        if (schema != null) {
            manager.setCurrentNamespace(namesOf(child.sessionState().sqlParser().parseMultipartIdentifier(schema)));
        }
        return child;
    }

    private static void share(SparkSession root, SparkSession child) throws Exception {
        Field catalogs = CatalogManager.class.getDeclaredField("catalogs");
        catalogs.setAccessible(true);
        Object mine = catalogs.get(root.sessionState().catalogManager());
        Object copy = mine.getClass().getMethod("clone", new Class[0]).invoke(mine, new Object[0]);
        catalogs.set(child.sessionState().catalogManager(), copy);
    }

    private static String[] namesOf(scala.collection.Seq parts) {
        String[] names = new String[parts.length()];
        for (int i = 0; i < names.length; i++) {
            names[i] = (String) parts.apply(i);
        }
        return names;
    }
}
