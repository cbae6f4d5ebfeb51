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
     * ["kinds of relations that are no tables of Iceberg"], "momentary": whether texts are read as times, so that the
     * present may be part of them}.
     */
    public String read(Dataset<?> dataset) throws JsonProcessingException {
        Dependencies found = new Dependencies();
        found.addPlan(dataset.queryExecution().analyzed());
        Map<String, Object> shown = new LinkedHashMap<>();
        shown.put("nodes", found.nodes());
        shown.put("expressions", found.expressions());
        shown.put("nondeterministic", found.nondeterministic());
        shown.put("others", found.others());
        shown.put("momentary", found.isMomentary());
        return MAPPER.writeValueAsString(shown);
    }
}
