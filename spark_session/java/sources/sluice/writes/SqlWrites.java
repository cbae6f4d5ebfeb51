package sluice.writes;

import static sluice.collections.Lists.seq;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.RenameTable;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.Dataset$;
import org.apache.spark.sql.classic.SparkSession;
import sluice.policies.ReadTables;
import sluice.policies.RelationNames;

/** Reads and analyzes statements that write rows. Nothing of it runs a statement. */
public final class SqlWrites {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    /** Spark's parser gives it to each relation that a statement writes to. */
    private static final String PRIVILEGES = UnresolvedRelation.REQUIRED_WRITE_PRIVILEGES();

    /**
     * Returns JSON: {"kind": "InsertIntoStatement", "target": ["lake", "shop", "item"], "options": ["branch"],
     * "isOverwrite": false, "isInIceberg": true, "renamedTo": null, …}. `target` has the full name of the table or
     * schema that is written to or changed, and `renamedTo` that of its new name. `query` is the text of a new view,
     * `isKept` whether one that exists stays as it is, and `unkept` are the words of clauses that its catalog would not
     * keep. `procedure` and `arguments` are those of a CALL; `target` is its table. DefinitionMembers.java has the rest.
     */
    public String read(SparkSession session, String sql) throws Exception {
        ParsedWrite parsed = ParsedWrite.of(session, sql);
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("kind", parsed.kind());
        UnresolvedRelation relation = parsed.target();
        List<String> target = relation == null
            ? changedBy(session, parsed.root())
            : inFull(session, relation);
        found.put("target", target);
        found.put("options", relation == null ? List.of() : optionsOf(relation));
        found.put("isInIceberg", target != null && DefinitionMembers.isInIceberg(session, target));
        found.put("renamedTo", renamedTo(session, parsed.root(), target));
        found.putAll(DefinitionMembers.of(parsed.root()));
        found.put("isOverwrite", parsed.isReplacing());
        found.put("query", ViewMembers.queryOf(parsed.root()));
        found.put("isKept", ViewMembers.isKept(parsed.root()));
        found.put("unkept", ViewMembers.unkept(parsed.root(), sql));
        found.put("procedure", CallMembers.procedureOf(parsed.root()));
        found.put("arguments", CallMembers.argumentsOf(parsed.root()));
        return text(found);
    }

    private static List<String> changedBy(SparkSession session, LogicalPlan root) {
        List<String> procedure = CallMembers.procedureOf(root);
        if (procedure == null) {
            return DefinitionMembers.target(session, root);
        }
        List<String> table = CallMembers.tableOf(session.sessionState().sqlParser(), root);
        return table == null ? null : RelationNames.inCatalog(table, procedure.get(0), session.sessionState());
    }

    /** Returns the query whose rows a statement writes. */
    public Dataset<?> source(SparkSession session, String sql, List<String> names, List<Column> values)
            throws Exception {
        LogicalPlan query = ParsedWrite.of(session, sql).source();
        return Dataset$.MODULE$.ofRows(session, ParsedWrite.bound(session, query, names, values));
    }

    /** Analyzes an INSERT of these rows, which is all that its query gives. */
    public WritePlan insert(SparkSession session, String sql, Dataset<?> rows) throws Exception {
        ParsedWrite parsed = ParsedWrite.of(session, sql);
        InsertIntoStatement written = (InsertIntoStatement) parsed.root();
        UnresolvedRelation target = parsed.target();
        UnresolvedRelation full = new UnresolvedRelation(seq(inFull(session, target)), target.options(), false);
        return WritePlan.of(session, new InsertIntoStatement(
            full,
            written.partitionSpec(),
            written.userSpecifiedCols(),
            rows.queryExecution().analyzed(),
            written.overwrite(),
            written.ifPartitionNotExists(),
            written.byName()));
    }

    /** Analyzes a CREATE or REPLACE TABLE of these rows, which are all that its query gives. */
    public WritePlan create(SparkSession session, String sql, Dataset<?> rows) throws Exception {
        LogicalPlan query = rows.queryExecution().analyzed();
        LogicalPlan root = ParsedWrite.of(session, sql).root();
        if (root instanceof CreateTableAsSelect create) {
            return WritePlan.of(session, new CreateTableAsSelect(
                create.name(),
                create.partitioning(),
                query,
                create.tableSpec(),
                create.writeOptions(),
                create.ignoreIfExists(),
                create.isAnalyzed()));
        }
        ReplaceTableAsSelect replace = (ReplaceTableAsSelect) root;
        return WritePlan.of(session, new ReplaceTableAsSelect(
            replace.name(),
            replace.partitioning(),
            query,
            replace.tableSpec(),
            replace.writeOptions(),
            replace.orCreate(),
            replace.isAnalyzed()));
    }

    /**
     * Analyzes a statement that changes a catalog and reads no rows. Null: ALTER VIEW, and there is no such view of
     * Iceberg.
     */
    public WritePlan define(SparkSession session, String sql) throws Exception {
        ParsedWrite parsed = ParsedWrite.of(session, sql);
        if (!(parsed.root() instanceof RenameTable rename)) {
            return WritePlan.of(session, parsed.whole());
        }
        List<String> target = DefinitionMembers.target(session, rename);
        List<String> renamed = DefinitionMembers.renamedTo(session, rename, target);
        if (rename.isView()) {
            // Iceberg takes the new name of a view as one of the session.
            WritePlan plan = WritePlan.of(session, rename.copy(rename.child(), seq(renamed), true));
            return plan.isOfView() ? plan : null;
        }
        // Spark takes the new name as one within the catalog of the table.
        return WritePlan.of(session, rename.copy(rename.child(), seq(renamed.subList(1, renamed.size())), false));
    }

    private static List<String> renamedTo(SparkSession session, LogicalPlan root, List<String> target) {
        return root instanceof RenameTable rename && target != null
            ? DefinitionMembers.renamedTo(session, rename, target)
            : null;
    }

    /** Analyzes a DELETE, UPDATE or MERGE. */
    public WritePlan change(SparkSession session, String sql, List<String> names, List<Column> values)
            throws Exception {
        LogicalPlan whole = ParsedWrite.of(session, sql).whole();
        LogicalPlan bound = ParsedWrite.bound(session, whole, names, values);
        return WritePlan.of(session, ReadTables.withFullNames(session.sessionState(), bound));
    }

    private static List<String> optionsOf(UnresolvedRelation target) {
        List<String> names = new ArrayList<>(target.options().keySet());
        names.removeIf(PRIVILEGES::equalsIgnoreCase);
        return names;
    }

    private static List<String> inFull(SparkSession session, UnresolvedRelation target) {
        return RelationNames.inFull(ParsedWrite.partsOf(target), session.sessionState());
    }

    static String text(Map<String, Object> found) throws JsonProcessingException {
        return MAPPER.writeValueAsString(found);
    }
}
