package sluice.policies;

import static sluice.collections.Lists.iterable;
import static sluice.collections.Lists.list;
import static sluice.collections.Lists.parts;
import static sluice.collections.Lists.seq;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.CTESubstitution$;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.internal.SessionState;
import scala.Product;
import sluice.collections.Partial;

/**
 * Lists the tables and views of an analyzed query.
 *
 * <p>The analyzed plan is the judge, because only it has all tables: those of views, of common table expressions, at
 * versions, and under names that are computed.
 */
public final class ReadTables {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /**
     * Returns JSON: {"names": [["lake", "shop", "v"], …], "views": [{"name": ["lake", "shop", "v"], "path": [], "text":
     * null}, …], "tables": [{"name": ["lake", "shop", "item"], "path": [["lake", "shop", "v"]], "metadata": "FILES",
     * "parts": [as it was named], "columns": ["_file", …]}, …], "unknown": ["…"]}.
     *
     * <p>`names` has the full name of each relation in the text; common table expressions are left out, and names of
     * one part stay as they are if a temporary view has them. `views` has the views that are read, except those that
     * the text names without their catalog or schema; those of the session catalog have their text. `tables` has every
     * table that is read, with the kind of its metadata if that is read, and the metadata columns that are read. `path`
     * has the views around it in lower case, the outermost first. `unknown` has the kinds of relations whose tables
     * cannot be told.
     */
    public String read(SparkSession session, String sql, Dataset<?> dataset) throws Exception {
        SessionState state = session.sessionState();
        return reported(state, state.sqlParser().parsePlan(sql), dataset.queryExecution().analyzed());
    }

    /** Returns the same for a query that has no text of its own: its names are those of its plan. */
    public String readPlan(SparkSession session, Dataset<?> dataset) throws Exception {
        return reported(
            session.sessionState(), dataset.queryExecution().logical(), dataset.queryExecution().analyzed());
    }

    /** Returns the same for a statement, as it was parsed and as it was analyzed. */
    public static String reported(SessionState state, LogicalPlan parsed, LogicalPlan analyzed) throws Exception {
        Set<List<String>> written = new LinkedHashSet<>();
        collectNames(CTESubstitution$.MODULE$.apply(parsed), written);
        Set<List<String>> names = new LinkedHashSet<>();
        for (List<String> name : written) {
            names.add(RelationNames.inFull(name, state));
        }
        ReadRelations found = new ReadRelations();
        found.collect(analyzed);
        Map<String, Set<?>> all = new LinkedHashMap<>();
        all.put("names", names);
        all.put("views", found.views());
        all.put("tables", found.tables());
        all.put("unknown", found.unknown());
        return MAPPER.writeValueAsString(all);
    }

    /**
     * Analyzes a query again, with the full name of each relation that its text names.
     *
     * <p>Only then does a view in the analyzed plan have its full name, and cannot be mistaken for an alias.
     */
    public Dataset<?> inFull(SparkSession session, Dataset<?> dataset) {
        LogicalPlan full = withFullNames(session.sessionState(), dataset.queryExecution().logical());
        return Dataset$.MODULE$.ofRows(session, full);
    }

    /** Returns a parsed plan with the full name of each relation that it names. */
    public static LogicalPlan withFullNames(SessionState state, LogicalPlan parsed) {
        return CTESubstitution$.MODULE$.apply(parsed).transformUpWithSubqueries(Partial.where(
            node -> node instanceof UnresolvedRelation,
            node -> inFull((UnresolvedRelation) node, state)));
    }

    private static UnresolvedRelation inFull(UnresolvedRelation relation, SessionState state) {
        List<String> full = RelationNames.inFull(list(relation.multipartIdentifier()), state);
        return new UnresolvedRelation(seq(full), relation.options(), relation.isStreaming());
    }

    private static void collectNames(Object value, Set<List<String>> names) {
        if (value instanceof UnresolvedRelation relation) {
            names.add(list(relation.multipartIdentifier()));
        }
        if (value instanceof scala.collection.Iterable<?> values) {
            collectAllNames(iterable(values), names);
        } else if (value instanceof Product product) {
            collectAllNames(parts(product), names);
        }
    }

    private static void collectAllNames(Iterable<?> values, Set<List<String>> names) {
        for (Object value : values) {
            collectNames(value, names);
        }
    }
}
