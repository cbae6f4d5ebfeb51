package sluice.policies;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.analysis.UpdateAttributeNullability$;
import org.apache.spark.sql.catalyst.parser.ParserInterface;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;

/**
 * Puts row filters and column masks between a query and its tables and views.
 *
 * <p>A guarded table or view gets new columns. The nodes above it keep the columns that the query was analyzed with.
 * A mask that used the column's own identity would look to the optimizer like a projection without effect, and would
 * be dropped.
 */
public final class TableGuards {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /**
     * Returns the query over its guarded tables and views. `restrictions` is JSON: for each place of a table or view
     * that is restricted, {"name": […], "path": [[…], …], "rowFilter": "region = 'A'" or null, "masks": {"card": "…"},
     * "isApart": whether the query must not see what the view's own conditions leave out}. `path` has the views around
     * it, the outermost first. Names are lists of parts, in lower case. `views` is JSON: the names of all views.
     */
    public Dataset<?> guarded(SparkSession session, Dataset<?> dataset, String restrictions, String views)
            throws Exception {
        var viewNames = MAPPER.readValue(views, new TypeReference<List<List<String>>>() {});
        var texts = MAPPER.readValue(restrictions, new TypeReference<List<Restriction.Text>>() {});
        QueryGuards guards = new QueryGuards(session, byPlace(texts, session), new HashSet<>(viewNames));
        LogicalPlan seen = guards.guardedViews(dataset.queryExecution().analyzed(), false);
        // The conditions of the views' own policies count, too. What a mask of a table computes is not known yet.
        boolean canFail = FailingExpressions.isAnyIn(seen);
        boolean hasMask = texts.stream().anyMatch(text -> !text.masks().isEmpty());
        if (canFail || hasMask) {
            seen = guards.guardedViews(dataset.queryExecution().analyzed(), true);
        }
        LogicalPlan found = guards.guardedTables(seen, canFail);
        if (!guards.areAllMet() || guards.isAnyUnguardedIn(found)) {
            throw new IllegalStateException("A table or view that has policies is read without its guard.");
        }
        return Dataset$.MODULE$.ofRows(session, UpdateAttributeNullability$.MODULE$.apply(found));
    }

    private static Map<Restriction.Place, Restriction> byPlace(List<Restriction.Text> texts, SparkSession session)
            throws Exception {
        ParserInterface parser = session.sessionState().sqlParser();
        Map<Restriction.Place, Restriction> found = new LinkedHashMap<>();
        for (Restriction.Text text : texts) {
            found.put(text.place(), text.parsed(parser));
        }
        return found;
    }
}
