package sluice.writes;

import static sluice.collections.Lists.optional;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.CreateView;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.views.CreateIcebergView;
import org.apache.spark.sql.execution.SparkSqlParser;

/** What CREATE VIEW has besides its name: its text, and clauses that a catalog of Iceberg does not keep. */
final class ViewMembers {

    private static final Set<String> GROWING = Set.of("SchemaEvolution", "SchemaTypeEvolution");

    private ViewMembers() {}

    /** Returns the text of the view that a statement creates; null for other statements. */
    static String queryOf(LogicalPlan root) {
        return root instanceof CreateIcebergView create ? create.queryText() : null;
    }

    /** Whether a view that exists stays as it is: IF NOT EXISTS. */
    static boolean isKept(LogicalPlan root) {
        return root instanceof CreateIcebergView create && create.allowExisting();
    }

    /** Returns the words of the clauses of CREATE VIEW that Iceberg's parser leaves out. */
    static List<String> unkept(LogicalPlan root, String sql) {
        List<String> words = new ArrayList<>();
        if (root instanceof CreateIcebergView && new SparkSqlParser().parsePlan(sql) instanceof CreateView create) {
            if (optional(create.collation()).isPresent()) {
                words.add("DEFAULT COLLATION");
            }
            if (GROWING.contains(create.viewSchemaMode().getClass().getSimpleName().replace("$", ""))) {
                words.add("WITH SCHEMA EVOLUTION");
            }
        }
        return words;
    }
}
