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

    /** Forgets all entries, and returns how many there were. A query that uses one now keeps it. */
    public int clear() {
        return entries.clear();
    }

    /**
     * Keeps the plan of an analyzed query, if it reads nothing but pinned tables and rows in memory. The query itself is
     * the first that has it, and releases it once it has ended well. Null if the plan is not kept, or was already.
     */
    public TakenPlan keep(String key, Dataset<?> query) {
        if (entries.has(key)) {
            // Another query has it, and gives it back soon.
            return null;
        }
        PlanTemplate template = PlanTemplate.of(query.queryExecution().analyzed());
        if (template == null) {
            return null;
        }
        template.take();
        entries.put(key, new BoundedEntries.Entry(template, template.bytes()));
        return new TakenPlan(template, query);
    }

    /**
     * Returns the query of a kept plan in this session, which must have the settings of its key. Null if none is kept,
     * or if another query has it now. Release it once the query has ended well; otherwise remove the key.
     */
    public TakenPlan find(SparkSession session, String key) {
        PlanTemplate template = (PlanTemplate) entries.peek(key);
        if (template == null || !template.take()) {
            entries.countMiss();
            return null;
        }
        LogicalPlan plan = template.opened();
        if (plan == null) {
            entries.remove(key);
            entries.countMiss();
            return null;
        }
        entries.find(key);
        return new TakenPlan(template, Dataset$.MODULE$.ofRows(session, plan));
    }

    /** Forgets a plan. */
    public void remove(String key) {
        entries.remove(key);
    }
}
