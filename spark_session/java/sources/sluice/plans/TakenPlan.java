package sluice.plans;

import org.apache.spark.sql.classic.Dataset;

/** A kept plan that one query has. */
public final class TakenPlan {

    private final PlanTemplate template;
    private final Dataset<?> query;

    TakenPlan(PlanTemplate template, Dataset<?> query) {
        this.template = template;
        this.query = query;
    }

    /** Returns the query, as it was analyzed. */
    public Dataset<?> query() {
        return query;
    }

    /** Lets another query have the plan. */
    public void release() {
        template.release();
    }
}
