package sluice.sessions;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.lang.reflect.Field;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.spark.sql.artifact.ArtifactManager;
import org.apache.spark.sql.catalyst.CurrentUserContext$;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.classic.SparkSession$;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.connector.catalog.CatalogPlugin;
import org.apache.spark.sql.connector.catalog.Catalogs$;
import org.apache.spark.sql.internal.SessionState;
import scala.Function0;
import scala.Option;
import scala.collection.immutable.Seq;
import scala.collection.mutable.HashMap;

/** Child sessions of one root, opened ahead of their queries. */
public final class ChildSessions {

    private static final Seq<Rule<LogicalPlan>> OPTIMIZATIONS =
        seq(List.of(new OppositeConditions(), new LostPruning(), new BroadcastSides()));

    private final List<String> names = new CopyOnWriteArrayList<>();
    private CatalogManager rootManager;

    /**
     * Opens the catalog for the root and its children. Until that succeeds, a placeholder fails only its tables.
     *
     * <p>Spark would open the catalog while it holds the lock that each look-up of a catalog takes. Each query does
     * that once, even for the current catalog of a query that reads no table. A catalog that does not answer would stop
     * all callers.
     */
    public void openCatalog(SparkSession root, String name) throws Exception {
        // A catalog reads its configuration from the session of the thread that opens it.
        SparkSession$.MODULE$.setActiveSession(root);
        SessionState state = root.sessionState();
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
    public SparkSession open(SparkSession root) throws ReflectiveOperationException {
        SparkSession child = root.newSession();
        share(root, child);
        child.experimental().extraOptimizations_$eq(OPTIMIZATIONS);
        SessionState state = child.sessionState();
        shareArtifacts(root.sessionState(), state);
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
    public void begin(SparkSession child, String catalog, String schema, String tag, String pool, String user)
            throws Exception {
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
            List<String> parts = list(child.sessionState().sqlParser().parseMultipartIdentifier(schema));
            manager.setCurrentNamespace(parts.toArray(String[]::new));
        }
    }

    /**
     * Gives the child a copy of the root's map of open catalogs; what it adds to the copy stays its own.
     *
     * <p>A session opens each catalog again, with connections that only the garbage collector closes: a thousand
     * queries would exhaust a catalog's database.
     */
    private static void share(SparkSession root, SparkSession child) throws ReflectiveOperationException {
        CatalogManager manager = root.sessionState().catalogManager();
        synchronized (manager) {
            catalogsField().set(child.sessionState().catalogManager(), catalogsOf(manager).clone());
        }
    }

    /**
     * Gives the child the artifacts of the root, which are none: no query may add a file or a class.
     *
     * <p>Spark would make artifacts for each session at its first query, and start a process, `rm`, to remove them.
     */
    private static void shareArtifacts(SessionState root, SessionState child) throws ReflectiveOperationException {
        Function0<ArtifactManager> ofRoot = root::artifactManager;
        Field builder = SessionState.class.getDeclaredField("artifactManagerBuilder");
        builder.setAccessible(true);
        builder.set(child, ofRoot);
    }

    /** Gives the child the catalogs that the root has opened since the child was made. */
    private void complete(CatalogManager manager) throws ReflectiveOperationException {
        for (String name : names) {
            if (isMissing(manager, name)) {
                put(manager, name, get(rootManager, name));
            }
        }
    }

    private static boolean isMissing(CatalogManager manager, String name) throws ReflectiveOperationException {
        CatalogPlugin found = get(manager, name);
        return found == null || found instanceof MissingCatalog;
    }

    private static CatalogPlugin get(CatalogManager manager, String name) throws ReflectiveOperationException {
        synchronized (manager) {
            Option<CatalogPlugin> found = catalogsOf(manager).get(name);
            return found.isDefined() ? found.get() : null;
        }
    }

    private static void put(CatalogManager manager, String name, CatalogPlugin catalog)
            throws ReflectiveOperationException {
        synchronized (manager) {
            catalogsOf(manager).put(name, catalog);
        }
    }

    @SuppressWarnings("unchecked")
    private static HashMap<String, CatalogPlugin> catalogsOf(CatalogManager manager)
            throws ReflectiveOperationException {
        return (HashMap<String, CatalogPlugin>) catalogsField().get(manager);
    }

    private static Field catalogsField() throws ReflectiveOperationException {
        Field catalogs = CatalogManager.class.getDeclaredField("catalogs");
        catalogs.setAccessible(true);
        return catalogs;
    }
}
