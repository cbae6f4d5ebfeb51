package sluice.writes;

import java.util.List;
import java.util.Map;
import org.apache.iceberg.BaseMetadataTable;
import org.apache.iceberg.spark.CommitMetadata;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.analysis.NamedRelation;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.RenameTable;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.catalyst.plans.logical.views.ResolvedV2View;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.write.RowLevelOperationTable;
import org.apache.spark.sql.execution.CommandExecutionMode$;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import sluice.policies.ReadTables;
import sluice.policies.RelationNames;
import sluice.statements.PlanSizes;
import sluice.statements.PlanVetting;
import sluice.statements.PlantedTables;

/** An analyzed statement that writes. It runs exactly as it was analyzed, and so as it was checked. */
public final class WritePlan {

    private final SparkSession session;
    private final LogicalPlan named;
    private final LogicalPlan analyzed;

    private WritePlan(SparkSession session, LogicalPlan named, LogicalPlan analyzed) {
        this.session = session;
        this.named = named;
        this.analyzed = analyzed;
    }

    /** Analyzes a statement whose relations have their full names. Nothing runs. */
    static WritePlan of(SparkSession session, LogicalPlan named) {
        QueryExecution execution = session.sessionState().executePlan(named, CommandExecutionMode$.MODULE$.SKIP());
        execution.assertAnalyzed();
        return new WritePlan(session, named, execution.analyzed());
    }

    /** Returns what the analyzed statement may not have; null if there is nothing. */
    public String refusedIn(PlanVetting vetting) {
        return vetting.refusedIn(analyzed);
    }

    /** Returns the name of the first relation that is also read as another table's metadata; null: there is none. */
    public String planted(String reserved) {
        return PlantedTables.firstIn(analyzed, reserved, session.sessionState().catalogManager());
    }

    /** Returns the JSON of PlanSizes.java. */
    public String sizes() throws Exception {
        return PlanSizes.analyzed(analyzed);
    }

    /** Returns the JSON of ReadTables.java for all that the statement reads, the changed table included. */
    public String reads() throws Exception {
        return ReadTables.reported(session.sessionState(), named, analyzed);
    }

    /** Whether the rows go to the Iceberg table of this name, not to its metadata or to another branch of it. */
    public boolean isInto(List<String> name) {
        if (!(targetOf(analyzed) instanceof DataSourceV2Relation relation)) {
            return false;
        }
        Table table = relation.table();
        Table written = table instanceof RowLevelOperationTable changed ? changed.table() : table;
        List<String> found = RelationNames.nameOf(relation);
        return written instanceof SparkTable target
            && !(target.table() instanceof BaseMetadataTable)
            && found != null
            && String.join("\n", found).equalsIgnoreCase(String.join("\n", name));
    }

    /** Whether it is ALTER VIEW of a view of Iceberg. */
    boolean isOfView() {
        return analyzed instanceof RenameTable rename && rename.child() instanceof ResolvedV2View;
    }

    private static Object targetOf(LogicalPlan plan) {
        if (plan instanceof V2WriteCommand write) {
            NamedRelation table = write.table();
            return table;
        }
        if (plan instanceof DeleteFromTable delete) {
            return delete.table() instanceof SubqueryAlias alias ? alias.child() : delete.table();
        }
        return null;
    }

    /**
     * Runs the statement to its end. The snapshot that it commits has this property. The plan of the result has the
     * plan that ran.
     */
    public Dataset<?> run(String property, String value) throws Exception {
        return CommitMetadata.withCommitProperties(
            Map.of(property, value), () -> Dataset$.MODULE$.ofRows(session, analyzed), Exception.class);
    }
}
