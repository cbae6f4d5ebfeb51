package sluice.statements;

import static sluice.collections.Lists.list;
import static sluice.collections.Lists.map;
import static sluice.collections.Lists.optional;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.TableIdentifier;
import org.apache.spark.sql.catalyst.analysis.CurrentNamespace$;
import org.apache.spark.sql.catalyst.analysis.LocalTempView$;
import org.apache.spark.sql.catalyst.analysis.UnresolvedFunctionName;
import org.apache.spark.sql.catalyst.analysis.UnresolvedIdentifier;
import org.apache.spark.sql.catalyst.analysis.UnresolvedNamespace;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTable;
import org.apache.spark.sql.catalyst.analysis.UnresolvedTableOrView;
import org.apache.spark.sql.catalyst.plans.logical.DescribeColumn;
import org.apache.spark.sql.catalyst.plans.logical.DescribeRelation;
import org.apache.spark.sql.catalyst.plans.logical.DropView;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.ShowPartitions;
import org.apache.spark.sql.catalyst.plans.logical.ShowTablesExtended;
import org.apache.spark.sql.execution.command.CreateViewCommand;
import org.apache.spark.sql.execution.command.DescribeQueryCommand;
import org.apache.spark.sql.execution.command.ResetCommand;
import org.apache.spark.sql.execution.command.SetCatalogCommand;
import org.apache.spark.sql.execution.command.SetCommand;
import org.apache.spark.sql.execution.command.SetNamespaceCommand;
import scala.Option;
import scala.Tuple2;

/** What a statement that is no query names, and what only its own kind has. */
final class CommandMembers {

    private CommandMembers() {}

    static void putTarget(LogicalPlan child, Map<String, Object> found) {
        if (child == CurrentNamespace$.MODULE$) {
            put("CURRENT", List.of(), found);
        } else if (child instanceof UnresolvedNamespace named) {
            put("NAMESPACE", list(named.multipartIdentifier()), found);
        } else if (child instanceof UnresolvedTable named) {
            put("RELATION", list(named.multipartIdentifier()), found);
        } else if (child instanceof UnresolvedTableOrView named) {
            put("RELATION", list(named.multipartIdentifier()), found);
        } else if (child instanceof UnresolvedFunctionName named) {
            put("FUNCTION", list(named.multipartIdentifier()), found);
        } else if (child instanceof UnresolvedIdentifier named) {
            put("IDENTIFIER", list(named.nameParts()), found);
        }
    }

    static void putOwn(LogicalPlan plan, Map<String, Object> found) {
        if (plan instanceof DescribeRelation described) {
            found.put("hasPartition", !map(described.partitionSpec()).isEmpty());
            found.put("isExtended", described.isExtended());
        } else if (plan instanceof DescribeColumn described) {
            found.put("isExtended", described.isExtended());
        } else if (plan instanceof ShowPartitions shown) {
            found.put("hasPartition", shown.pattern().isDefined());
        } else if (plan instanceof DescribeQueryCommand described) {
            found.put("query", described.queryText());
        } else if (plan instanceof ShowTablesExtended shown) {
            found.put("pattern", shown.pattern());
        } else {
            putChange(plan, found);
        }
    }

    private static void putChange(LogicalPlan plan, Map<String, Object> found) {
        if (plan instanceof SetCommand set) {
            putSetting(set, found);
        } else if (plan instanceof ResetCommand reset) {
            found.put("name", orNull(reset.config()));
        } else if (plan instanceof SetCatalogCommand set) {
            found.put("name", set.catalogName());
        } else if (plan instanceof SetNamespaceCommand set) {
            put("SCHEMA", list(set.namespace()), found);
        } else if (plan instanceof DropView dropped) {
            found.put("ifExists", dropped.ifExists());
        } else if (plan instanceof CreateViewCommand created) {
            putView(created, found);
        }
    }

    private static void putSetting(SetCommand plan, Map<String, Object> found) {
        Tuple2<String, Option<String>> entry = optional(plan.kv()).orElse(null);
        found.put("name", entry == null ? null : entry._1());
        found.put("value", entry == null ? null : orNull(entry._2()));
    }

    private static void putView(CreateViewCommand plan, Map<String, Object> found) {
        TableIdentifier name = plan.name();
        found.put("name", name.table());
        found.put("isQualified", name.database().isDefined() || name.catalog().isDefined());
        found.put("isLocal", plan.viewType() == LocalTempView$.MODULE$);
        found.put("isReplacing", plan.replace());
        found.put("ifNotExists", plan.allowExisting());
        found.put("query", orNull(plan.originalText()));
        List<String> columns = new ArrayList<>();
        for (Tuple2<String, Option<String>> column : list(plan.userSpecifiedColumns())) {
            columns.add(column._1());
        }
        found.put("columns", columns);
    }

    private static void put(String target, List<String> parts, Map<String, Object> found) {
        found.put("target", target);
        found.put("parts", parts);
    }

    private static <T> T orNull(Option<T> value) {
        return optional(value).orElse(null);
    }
}
