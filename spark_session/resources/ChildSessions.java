import java.lang.reflect.Field;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.classic.SparkSession$;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.internal.SessionState;

/** Child sessions of one root, opened ahead of the query that they are for. */
public final class ChildSessions {

    /** A child whose parser, analyzer, optimizer and planner are built already: Spark builds them at first use. */
    public Object open(Object root) throws Exception {
        SparkSession child = ((SparkSession) root).newSession();
        share((SparkSession) root, child);
        SessionState state = child.sessionState();
        state.sqlParser();
        state.analyzer();
        state.optimizer();
        state.planner();
        return child;
    }

    /**
     * Makes the child the session of this thread, at this catalog and schema (null: Spark's default), and
     * every Spark job of this thread carry the tag, in the scheduler's pool for queries.
     */
    public void begin(Object opened, String catalog, String schema, String tag, String pool) throws Exception {
        SparkSession child = (SparkSession) opened;
        child.sparkContext().setLocalProperty("spark.scheduler.pool", pool);
        child.sparkContext().clearJobTags();
        child.sparkContext().addJobTag(tag);
        // Spark looks a thread's configuration up by its active session.
        SparkSession$.MODULE$.setActiveSession(child);
        CatalogManager manager = child.sessionState().catalogManager();
        if (catalog != null) {
            manager.setCurrentCatalog(catalog);
        }
        if (schema != null) {
            manager.setCurrentNamespace(namesOf(child.sessionState().sqlParser().parseMultipartIdentifier(schema)));
        }
    }

    /**
     * Gives the child a copy of the root's map of open catalogs; what it adds to the copy stays its own.
     *
     * A session opens each catalog anew, with connections that only the garbage collector closes: a thousand
     * queries would exhaust a catalog's database.
     */
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
