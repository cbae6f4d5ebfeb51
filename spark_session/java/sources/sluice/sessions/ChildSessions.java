package sluice.sessions;

import static sluice.collections.Lists.seq;

import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.sql.catalyst.CurrentUserContext$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.classic.SparkSession$;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.Catalogs$;
import org.apache.spark.sql.internal.SessionState;
import scala.Option;
import scala.collection.mutable.HashMap;
import scala.runtime.AbstractFunction0;

/** Child sessions of one root, opened ahead of their queries. */
public final class ChildSessions {

    private static final scala.collection.immutable.Seq OPTIMIZATIONS =
        seq(Arrays.asList(new Object[] {new OppositeConditions(), new LostPruning(), new BroadcastSides()}));

    private final List names = new CopyOnWriteArrayList();
    private CatalogManager rootManager;

    /**
     * Opens the catalog for the root and its children. Until that succeeds, a placeholder fails only its tables.
     *
     * Spark would open the catalog while it holds the lock that each look-up of a catalog takes. Each query does that
     * once, even for the current catalog of a query that reads no table. A catalog that does not answer would stop
     * all callers.
     */
    public void openCatalog(Object root, String name) throws Exception {
        // A catalog reads its configuration from the session of the thread that opens it.
        SparkSession$.MODULE$.setActiveSession((SparkSession) root);
        SessionState state = ((SparkSession) root).sessionState();
        rootManager = state.catalogManager();
        if (!names.contains(name)) {
            names.add(name);
            put(rootManager, name, new MissingCatalog().named(name));
        }
        if (isMissing(rootManager, name)) {
            put(rootManager, name, Catalogs$.MODULE$.load(name, state.conf()));
        }
    }

    /**
     * Creates a child whose parser, analyzer, optimizer and planner are already built: Spark builds them at first
     * use.
     */
    public Object open(Object root) throws Exception {
        SparkSession child = ((SparkSession) root).newSession();
        share((SparkSession) root, child);
        child.experimental().extraOptimizations_$eq(OPTIMIZATIONS);
        SessionState state = child.sessionState();
        shareArtifacts(((SparkSession) root).sessionState(), state);
        state.sqlParser();
        state.analyzer();
        state.optimizer();
        state.planner();
        return child;
    }

    /**
     * Makes the child the session of this thread, at this catalog and schema (null: Spark's default). From then on,
     * every Spark job of this thread carries the tag, in the scheduler's pool for queries. `current_user()` is the
     * user (null: that of the process).
     */
    public void begin(Object opened, String catalog, String schema, String tag, String pool, String user)
            throws Exception {
        SparkSession child = (SparkSession) opened;
        CurrentUserContext$.MODULE$.CURRENT_USER().set(user);
        child.sparkContext().setLocalProperty("spark.scheduler.pool", pool);
        child.sparkContext().clearJobTags();
        child.sparkContext().addJobTag(tag);
        // Spark looks a thread's configuration up by its active session.
        SparkSession$.MODULE$.setActiveSession(child);
        CatalogManager manager = child.sessionState().catalogManager();
        complete(manager);
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
     * A session opens each catalog again, with connections that only the garbage collector closes: a thousand queries
     * would exhaust a catalog's database.
     */
    private static void share(SparkSession root, SparkSession child) throws Exception {
        CatalogManager manager = root.sessionState().catalogManager();
        synchronized (manager) {
            Object mine = catalogsOf(manager);
            Object copy = mine.getClass().getMethod("clone", new Class[0]).invoke(mine, new Object[0]);
            catalogsField().set(child.sessionState().catalogManager(), copy);
        }
    }

    /**
     * Gives the child the artifacts of the root, which are none: no query may add a file or a class.
     *
     * Spark would make artifacts for each session at its first query, and start a process, `rm`, to remove them.
     */
    private static void shareArtifacts(final SessionState root, SessionState child) throws Exception {
        Field builder = SessionState.class.getDeclaredField("artifactManagerBuilder");
        builder.setAccessible(true);
        builder.set(child, new AbstractFunction0() {
            public Object apply() {
                return root.artifactManager();
            }
        });
    }

    /** Gives the child the catalogs that the root has opened since the child was made. */
    private void complete(CatalogManager manager) throws Exception {
        for (int i = 0; i < names.size(); i++) {
            String name = (String) names.get(i);
            if (isMissing(manager, name)) {
                put(manager, name, get(rootManager, name));
            }
        }
    }

    private static boolean isMissing(CatalogManager manager, String name) throws Exception {
        Object found = get(manager, name);
        return found == null || found instanceof MissingCatalog;
    }

    private static Object get(CatalogManager manager, String name) throws Exception {
        synchronized (manager) {
            Option found = catalogsOf(manager).get(name);
            return found.isDefined() ? found.get() : null;
        }
    }

    private static void put(CatalogManager manager, String name, Object catalog) throws Exception {
        synchronized (manager) {
            catalogsOf(manager).put(name, catalog);
        }
    }

    private static HashMap catalogsOf(CatalogManager manager) throws Exception {
        return (HashMap) catalogsField().get(manager);
    }

    private static Field catalogsField() throws Exception {
        Field catalogs = CatalogManager.class.getDeclaredField("catalogs");
        catalogs.setAccessible(true);
        return catalogs;
    }

    private static String[] namesOf(scala.collection.Seq parts) {
        String[] names = new String[parts.length()];
        for (int i = 0; i < names.length; i++) {
            names[i] = (String) parts.apply(i);
        }
        return names;
    }
}
