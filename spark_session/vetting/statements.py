"""Decisions on the statements of Spark's grammar, by the names of its alternatives.

Queries pass. Whether all within a query may pass is decided by the plan that it is parsed to.
"""

from __future__ import annotations

from collections.abc import Mapping

from spark_session.vetting.decision import Decision, allowed, refused, table_of
from spark_session.vetting.vet_command import SESSION_REQUIRED
from spark_session.vetting.vetted_writes import SQL_WRITES_OFF

_SYNTAX = "SQL_SYNTAX"

STATEMENTS: Mapping[str, Decision] = table_of(
    (
        allowed(
            "A query.",
            "StatementDefault QueryPrimaryDefault FromStmt Table InlineTableDefault1 Subquery "
            "RegularQuerySpecification QueryTermDefault SetOperation OperatorPipeStatement",
        ),
        allowed(
            "A relation that a query reads.",
            "TableName AliasedQuery AliasedRelation InlineTableDefault2 TableValuedFunction",
        ),
        refused("Runs a program of the operating system for each row.", "TransformQuerySpecification"),
        refused("Reads a stream.", "StreamRelation StreamTableName"),
        refused(
            "Writes, changes or deletes rows. Allowed by `sql_writes`, to those whom policies let do it.",
            "DmlStatement SingleInsertQuery DeleteFromTable UpdateTable MergeIntoTable InsertIntoTable "
            "InsertOverwriteTable",
            SQL_WRITES_OFF,
        ),
        refused(
            "Writes to several tables or to files, or deletes rows in a way that has another statement.",
            "MultiInsertQuery InsertIntoReplaceWhere InsertOverwriteDir InsertOverwriteHiveDir "
            "TruncateTable LoadData",
        ),
        refused(
            "Changes the values of its caller's session. Outside of a session there is nothing to change.",
            "SetConfiguration SetQuotedConfiguration SetTimeZone ResetConfiguration ResetQuotedConfiguration "
            "SetCatalog Use UseNamespace",
            SESSION_REQUIRED,
        ),
        refused(
            "Creates or drops a temporary view of its caller's session. Of a view of a catalog, allowed by "
            "`sql_writes`, to those whom policies let do it.",
            "CreateView DropView",
            SESSION_REQUIRED,
        ),
        refused(
            "Changes variables of the engine, its cache or its files.",
            "SetVariable CacheTable UncacheTable ClearCache RefreshTable RefreshResource RefreshFunction "
            "ManageResource",
        ),
        refused(
            "Runs a text that is made while it runs, or declares variables for it.",
            "VisitExecuteImmediate CreateVariable DropVariable",
        ),
        refused(
            "Calls a procedure of maintenance. Allowed by `sql_writes`, to those whom policies let do it.",
            "Call",
            SQL_WRITES_OFF,
        ),
        refused(
            "Creates a function, whose code or text other queries would run.",
            "CreateFunction CreateUserDefinedFunction DropFunction",
        ),
        refused(
            "Creates, changes or drops a table or a schema. Allowed by `sql_writes`, to those whom policies "
            "let do it.",
            "CreateTable ReplaceTable DropTable RenameTable CreateNamespace DropNamespace CommentTable "
            "AddTableColumns RenameTableColumn AlterTableAlterColumn DropTableColumns SetTableProperties "
            "UnsetTableProperties HiveChangeColumn",
            SQL_WRITES_OFF,
        ),
        refused(
            "Changes a view, or something of a table or schema that SQL may not change.",
            "CreateTableLike CreateTempViewUsing AlterViewQuery "
            "AlterViewSchemaBinding "
            "SetNamespaceProperties UnsetNamespaceProperties SetNamespaceLocation "
            "CommentNamespace "
            "AlterTableCollation AlterClusterBy HiveReplaceColumns "
            "SetTableLocation SetTableSerDe AddTableConstraint "
            "DropTableConstraint AddTablePartition RenameTablePartition DropTablePartitions "
            "RecoverPartitions "
            "RepairTable CreateIndex DropIndex Analyze AnalyzeTables",
        ),
        refused("Belongs to pipelines.", "CreatePipelineDataset CreatePipelineInsertIntoFlow"),
        allowed(
            "Asks what catalogs have, or for a plan. The answer has what its caller may know of.",
            "ShowTables ShowTableExtended ShowTblProperties ShowColumns ShowViews ShowPartitions "
            "ShowFunctions ShowCreateTable ShowCurrentNamespace ShowCatalogs ShowNamespaces "
            "DescribeFunction DescribeNamespace DescribeRelation DescribeQuery Explain",
        ),
        refused(
            "Shows procedures, which queries cannot call.",
            "ShowProcedures DescribeProcedure",
        ),
        refused(
            "Is in the grammar only to be refused by Spark.",
            "FailNativeCommand FailSetRole SetNamespaceCollation",
            _SYNTAX,
        ),
        refused(
            "Belongs to a script of several statements.",
            "SetVariableInsideSqlScript SearchedCaseStatement SimpleCaseStatement",
        ),
    )
)
