package sluice.results;

import static sluice.collections.Lists.list;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.QueryExecution;

/**
 * Finds from an analyzed plan which columns of which tables each column of a result is made of, and which columns
 * decide on its rows.
 *
 * <p>It reads the analyzed plan, not the optimized one: all names are resolved there, and nothing is left out yet.
 */
public final class ColumnLineage {

    /**
     * Returns JSON: [[[name, sources], ...], sources of the rows]; a source is [table, column, kind, is masked].
     * "null": the plan is too large.
     */
    public String read(QueryExecution execution) throws Exception {
        LogicalPlan plan = execution.analyzed();
        PlanLineage lineage = new PlanLineage();
        try {
            lineage.visit(plan);
        } catch (ColumnSources.TooLong tooLong) {
            return "null";
        }
        List<List<Object>> columns = new ArrayList<>();
        for (Attribute column : list(plan.output())) {
            columns.add(List.of(column.name(), told(lineage.sourcesOf(column))));
        }
        return new ObjectMapper().writeValueAsString(List.of(columns, told(lineage.sourcesOfRows())));
    }

    private static List<List<Object>> told(Set<SourceColumn> sources) {
        return sources.stream().map(SourceColumn::row).toList();
    }
}
