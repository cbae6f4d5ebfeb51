package sluice.plans;

import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import sluice.collections.BoundedEntries;

/**
 * Analyzed plans, kept for later queries with the same key. A key has everything that an analysis depends on: its
 * callers say what that is. The least used plans make room. Several threads may use it.
 */
public final class KeptPlans {

    private final BoundedEntries entries = new BoundedEntries();

    /** Bounds the memory of all plans; with 0 bytes, none is kept. */
    public void keepAtMost(long bytesAtMost) {
        entries.keepAtMost(bytesAtMost);
    }

    /** Returns entries, bytes, hits, misses and evictions, with blanks in between. */
    public String use() {
        return entries.use();
    }

    /** Keeps the plan of an analyzed query, if it reads nothing but pinned tables and rows in memory. */
    public boolean keep(String key, Dataset<?> query) {
        PlanTemplate template = PlanTemplate.of(query.queryExecution().analyzed());
        if (template == null) {
            return false;
        }
        entries.put(key, new BoundedEntries.Entry(template, template.bytes()));
        return true;
    }

    /** Returns the query of a kept plan in this session, which must have the settings of its key; null if none is kept. */
    public Dataset<?> find(SparkSession session, String key) {
        PlanTemplate template = (PlanTemplate) entries.find(key);
        if (template == null) {
            return null;
        }
        LogicalPlan plan = template.opened();
        if (plan == null) {
            entries.remove(key);
            return null;
        }
        return Dataset$.MODULE$.ofRows(session, plan);
    }

    /** Forgets a plan. */
    public void remove(String key) {
        entries.remove(key);
    }
}
