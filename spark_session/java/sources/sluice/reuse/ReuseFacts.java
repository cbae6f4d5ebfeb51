package sluice.reuse;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.sql.classic.Dataset;

/** Lists what the result of an analyzed query depends on, besides the rows of Iceberg's tables. */
public final class ReuseFacts {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /**
     * Returns JSON: {"nodes": ["Project", …], "expressions": ["Alias", …], "nondeterministic": ["Rand", …], "others":
     * ["kinds of relations that are no tables of Iceberg"], "reads": [see below], "momentary": whether texts are read
     * as times, so that the present may be part of them}.
     *
     * <p>`reads` has an entry for each reference to a table, in the state in which it was loaded for this plan: {"name":
     * ["lake", "shop", "item"], "uuid": "…", "schemaId": 0, "location": of its metadata, "snapshotId": 7 or null,
     * "isVersion": whether a version was asked for, "hasOptions": whether there are read options}. No later commit
     * changes what the plan reads: Iceberg keeps the snapshot with the plan.
     */
    public String read(Dataset<?> dataset) throws JsonProcessingException {
        Dependencies found = new Dependencies();
        found.addPlan(dataset.queryExecution().analyzed());
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("nodes", found.nodes());
        shown.put("reads", found.reads());
        shown.put("expressions", found.expressions());
        shown.put("nondeterministic", found.nondeterministic());
        shown.put("others", found.others());
        shown.put("momentary", found.isMomentary());
        return MAPPER.writeValueAsString(shown);
    }
}
