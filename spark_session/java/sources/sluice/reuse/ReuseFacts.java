package sluice.reuse;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.optimizer.InlineCTE;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;

/** Lists what the result of an analyzed query depends on, besides the rows of Iceberg's tables. */
public final class ReuseFacts {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Returns the JSON below of a query as it was analyzed. */
    public String analyzed(Dataset<?> dataset) throws JsonProcessingException {
        return read(dataset.queryExecution().analyzed());
    }

    /**
     * Returns the same of a query as it is run. When Spark begins to plan a run, it loads each table again that has
     * changed since the analysis. It does so once, and Iceberg keeps the snapshot with the plan: no later commit
     * changes what is read.
     */
    public String planned(Dataset<?> dataset) throws JsonProcessingException {
        return read(dataset.queryExecution().tableVersionsRefreshed());
    }

    /**
     * Whether two analyzed queries have the same plan and columns, once common table expressions are inlined. Those
     * that are named often make the plans long: let nobody compare queries that name one twice.
     */
    public boolean areAlike(Dataset<?> one, Dataset<?> other) {
        LogicalPlan first = inlined(one.queryExecution().analyzed());
        LogicalPlan second = inlined(other.queryExecution().analyzed());
        return first.schema().equals(second.schema()) && first.canonicalized().equals(second.canonicalized());
    }

    private static LogicalPlan inlined(LogicalPlan analyzed) {
        return new InlineCTE(true, false).apply(analyzed);
    }

    /**
     * Returns JSON: {"nodes": ["Project", …], "expressions": ["Alias", …], "nondeterministic": ["Rand", …], "others":
     * ["kinds of relations that are no tables of Iceberg"], "aggregates": ["Sum", …], "aggregations": how many nodes
     * aggregate, "belowAggregations": ["nodes that these read"], "reads": [see below], "momentary": whether texts are
     * read as times, so that the present may be part of them}.
     *
     * <p>`reads` has an entry for each reference to a table, in the state in which it was loaded for this plan: {"name":
     * ["lake", "shop", "item"], "uuid": "…", "schemaId": 0, "location": of its metadata, "snapshotId": 7 or null,
     * "isVersion": whether a version was asked for, "hasOptions": whether there are read options}.
     */
    private static String read(LogicalPlan plan) throws JsonProcessingException {
        Dependencies found = new Dependencies();
        found.addPlan(plan);
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("nodes", found.nodes());
        shown.put("reads", found.reads());
        shown.put("expressions", found.expressions());
        shown.put("nondeterministic", found.nondeterministic());
        shown.put("aggregates", found.aggregates());
        Aggregations aggregations = new Aggregations(plan);
        shown.put("aggregations", aggregations.count());
        shown.put("belowAggregations", aggregations.below());
        shown.put("others", found.others());
        shown.put("momentary", found.isMomentary());
        return MAPPER.writeValueAsString(shown);
    }
}
