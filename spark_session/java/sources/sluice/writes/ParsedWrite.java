package sluice.writes;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.seq;

import java.util.List;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.catalyst.analysis.NameParameterizedQuery;
import org.apache.spark.sql.catalyst.analysis.PosParameterizedQuery;
import org.apache.spark.sql.catalyst.analysis.UnresolvedRelation;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.CreateTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.DeleteFromTable;
import org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.MergeIntoTable;
import org.apache.spark.sql.catalyst.plans.logical.ReplaceTableAsSelect;
import org.apache.spark.sql.catalyst.plans.logical.SubqueryAlias;
import org.apache.spark.sql.catalyst.plans.logical.UnresolvedWith;
import org.apache.spark.sql.catalyst.plans.logical.UpdateTable;
import org.apache.spark.sql.catalyst.plans.logical.views.CreateIcebergView;
import org.apache.spark.sql.classic.SparkSession;

/**
 * A statement that writes, as Spark's parser reads it.
 *
 * @param whole the statement, with the common table expressions before it
 * @param root the statement itself
 */
record ParsedWrite(LogicalPlan whole, LogicalPlan root) {

    static ParsedWrite of(SparkSession session, String sql) throws Exception {
        LogicalPlan whole = session.sessionState().sqlParser().parsePlan(sql);
        return new ParsedWrite(whole, whole instanceof UnresolvedWith with ? with.child() : whole);
    }

    String kind() {
        return root.getClass().getSimpleName().replace("$", "");
    }

    /** Returns the relation that an INSERT, DELETE, UPDATE or MERGE names; null for other statements. */
    UnresolvedRelation target() {
        if (root instanceof InsertIntoStatement insert) {
            return relation(insert.table());
        }
        if (root instanceof DeleteFromTable delete) {
            return relation(delete.table());
        }
        if (root instanceof UpdateTable update) {
            return relation(update.table());
        }
        return root instanceof MergeIntoTable merge ? relation(merge.targetTable()) : null;
    }

    /** Whether it replaces all rows of a table, or another view. */
    boolean isReplacing() {
        return root instanceof InsertIntoStatement insert && insert.overwrite()
            || root instanceof CreateIcebergView create && create.replace();
    }

    /** Returns the query whose rows are written; null if there is none. */
    LogicalPlan source() {
        LogicalPlan query = query();
        return query != null && whole instanceof UnresolvedWith with
            ? new UnresolvedWith(query, with.cteRelations(), with.allowRecursion())
            : query;
    }

    private LogicalPlan query() {
        if (root instanceof InsertIntoStatement insert) {
            return insert.query();
        }
        if (root instanceof CreateTableAsSelect create) {
            return create.query();
        }
        return root instanceof ReplaceTableAsSelect replace ? replace.query() : null;
    }

    /** Returns a plan with values for its parameters. Without names, they are those of its `?`, in their order. */
    static LogicalPlan bound(SparkSession session, LogicalPlan plan, List<String> names, List<Column> values) {
        List<Expression> given = values.stream().map(session::expression).toList();
        if (given.isEmpty()) {
            return plan;
        }
        return names.isEmpty()
            ? new PosParameterizedQuery(plan, seq(given))
            : new NameParameterizedQuery(plan, seq(names), seq(given));
    }

    private static UnresolvedRelation relation(LogicalPlan table) {
        LogicalPlan below = table instanceof SubqueryAlias alias ? alias.child() : table;
        return below instanceof UnresolvedRelation relation ? relation : null;
    }

    static List<String> partsOf(UnresolvedRelation relation) {
        return list(relation.multipartIdentifier());
    }
}
