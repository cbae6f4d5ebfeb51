"""Decisions on the nodes of Spark's plans: as a text is parsed, and as Spark has analyzed it.

Names are those of Spark's classes, and of Iceberg's extensions. Any other node is refused.
"""

from __future__ import annotations

from collections.abc import Mapping

from spark_session.vetting.decision import Decision, allowed, refused, table_of

PARSED_NODES: Mapping[str, Decision] = table_of(
    (
        allowed(
            "Part of a query, as Spark's parser reads it.",
            "Aggregate Distinct Except Filter Generate GlobalLimit Intersect Join LateralJoin LimitAll "
            "LocalLimit LocalRelation Offset OneRowRelation PipeOperator Pivot Project RelationTimeTravel "
            "RepartitionByExpression Sample Sort SubqueryAlias Union Unpivot UnresolvedHaving "
            "UnresolvedHint UnresolvedInlineTable UnresolvedRelation UnresolvedSubqueryColumnAliases "
            "UnresolvedTVFAliases UnresolvedTableValuedFunction UnresolvedWith WithWindowDefinition",
        ),
    )
)
"""The nodes that a text may have."""

ANALYZED_NODES: Mapping[str, Decision] = table_of(
    (
        allowed(
            "Reads a table or a view of a catalog.",
            "DataSourceV2Relation HiveTableRelation LogicalRelation View",
        ),
        allowed(
            "Part of a query whose names are resolved.",
            "Aggregate CTERelationDef CTERelationRef Distinct EmptyRelation Except Expand Filter Generate "
            "GlobalLimit Intersect Join LateralJoin LimitAll LocalLimit LocalRelation Offset "
            "OneRowRelation PipeOperator Project Range RebalancePartitions Repartition "
            "RepartitionByExpression ResolvedHint ResolvedInlineTable Sample Sort SubqueryAlias Union "
            "UnionLoop UnionLoopRef Window WithCTE",
        ),
    )
)
"""The nodes that a query may have once Spark has resolved its names. By then, texts of views are nodes."""

REFUSED_NODES: Mapping[str, Decision] = table_of(
    (
        refused(
            "Runs a program of the operating system for each row.",
            "ScriptTransformation",
        ),
        refused(
            "Belongs to a script of several statements, to a statement that is made while it runs, or to "
            "its variables.",
            "CompoundBody CreateVariable DropVariable ErrorCondition ExceptionHandler "
            "ExternalCommandExecutor ForStatement GeneralParameterizedQuery IfElseStatement "
            "IterateStatement LeaveStatement LoopStatement MultiResult NameParameterizedQuery "
            "PosParameterizedQuery RepeatStatement SearchedCaseStatement SetVariable SimpleCaseStatement "
            "SingleStatement UnresolvedExecuteImmediate WhileStatement",
        ),
        refused(
            "Takes a name that is made while the query is analyzed, so it cannot be checked before.",
            "PlanWithUnresolvedIdentifier",
        ),
        refused(
            "Holds the text of a function that was created in a catalog.",
            "SQLFunctionNode SQLTableFunction",
        ),
        refused(
            "Runs code of Python, R or Scala, or reads its logs.",
            "AppendColumns AppendColumnsWithObject ArrowEvalPython ArrowEvalPythonUDTF "
            "AttachDistributedSequence BatchEvalPython BatchEvalPythonUDTF CoGroup DeserializeToObject "
            "FlatMapCoGroupsInArrow FlatMapCoGroupsInPandas FlatMapGroupsInArrow FlatMapGroupsInPandas "
            "FlatMapGroupsInPandasWithState FlatMapGroupsInR FlatMapGroupsInRWithArrow "
            "FlatMapGroupsWithState MapElements MapGroups MapInArrow MapInPandas MapPartitions "
            "MapPartitionsInR MapPartitionsInRWithArrow PythonWorkerLogs SerializeFromObject "
            "TransformWithState TransformWithStateInPySpark TypedFilter",
        ),
        refused(
            "Belongs to streams. Queries are no streams.",
            "CreateFlowCommand CreateStreamingTable CreateStreamingTableAsSelect Deduplicate "
            "DeduplicateWithinWatermark EventTimeWatermark MemoryPlan OffsetHolder "
            "StreamingDataSourceV2Relation StreamingDataSourceV2ScanRelation StreamingExecutionRelation "
            "StreamingExplainCommand StreamingRelation StreamingRelationV2 UnresolvedEventTimeWatermark "
            "UpdateEventTimeWatermarkColumn WriteToContinuousDataSource WriteToMicroBatchDataSource "
            "WriteToMicroBatchDataSourceV1 WriteToStream WriteToStreamStatement",
        ),
        refused(
            "Writes rows.",
            "CacheTableAsSelect CreateDataSourceTableAsSelectCommand "
            "CreateHiveTableAsSelectCommand CreateMaterializedViewAsSelect "
            "DeleteFromTableWithFilters InsertIntoDataSourceCommand "
            "InsertIntoDataSourceDirCommand InsertIntoDir InsertIntoHadoopFsRelationCommand "
            "InsertIntoHiveDirCommand InsertIntoHiveTable LoadData LoadDataCommand "
            "SaveAsV1TableCommand SaveIntoDataSourceCommand TruncatePartition "
            "TruncateTable TruncateTableCommand WriteFiles WriteToDataSourceV2",
        ),
        refused(
            "Changes the session: its settings, its catalog, its cache or its files.",
            "AddArchivesCommand AddFilesCommand AddJarsCommand CacheTable ClearCacheCommand "
            "ListArchivesCommand ListFilesCommand ListJarsCommand RefreshFunction RefreshFunctionCommand "
            "RefreshResource RefreshTable RefreshTableCommand UncacheTable",
        ),
        refused(
            "Shows what catalogs or the plan have, in a way that the gateway does not answer.",
            "CommandResult DescribeColumnCommand DescribeDatabaseCommand DescribeFunctionCommand "
            "DescribeProcedureCommand DescribeRelationJsonCommand DescribeTableCommand ShowColumnsCommand "
            "ShowCreateTableAsSerdeCommand ShowCreateTableCommand ShowFunctionsCommand "
            "ShowPartitionsCommand ShowProceduresCommand ShowTablePartition ShowTablePropertiesCommand "
            "ShowTablesCommand ShowViewsCommand",
        ),
        refused(
            "Names a procedure of a catalog.",
            "ResolvedProcedure UnresolvedProcedure",
        ),
        refused(
            "Changes tables, views, functions, schemas or other things of a catalog, or their statistics.",
            "AddCheckConstraint AddConstraint AddPartitionField AddPartitions "
            "AlterDatabasePropertiesCommand AlterDatabaseSetLocationCommand AlterTableAddColumnsCommand "
            "AlterTableAddPartitionCommand AlterTableChangeColumnCommand AlterTableClusterBy "
            "AlterTableCollation AlterTableDropPartitionCommand AlterTableRenameCommand "
            "AlterTableRenamePartitionCommand AlterTableSerDePropertiesCommand "
            "AlterTableSetLocationCommand AlterTableSetPropertiesCommand AlterTableUnsetPropertiesCommand "
            "AlterViewAs AlterViewAsCommand AlterViewSchemaBinding AlterViewSchemaBindingCommand "
            "AnalyzeColumn AnalyzeColumnCommand AnalyzePartitionCommand AnalyzeTable AnalyzeTableCommand "
            "AnalyzeTables AnalyzeTablesCommand CommentOnNamespace "
            "CreateDataSourceTableCommand CreateDatabaseCommand CreateFunction CreateFunctionCommand "
            "CreateIndex CreateOrReplaceBranch CreateOrReplaceTag "
            "CreateSQLFunctionCommand CreateTableCommand CreateTableLikeCommand "
            "CreateTempViewUsing CreateUserDefinedFunction DropBranch "
            "DropConstraint DropDatabaseCommand DropFunction DropFunctionCommand "
            "DropIdentifierFields DropIndex DropPartitionField DropPartitions "
            "DropTableCommand DropTag DropTempViewCommand NoopCommand RecoverPartitions "
            "RenamePartitions RepairTable RepairTableCommand ReplaceColumns "
            "ReplacePartitionField SetIdentifierFields SetNamespaceCollationCommand "
            "SetNamespaceLocation SetNamespaceProperties SetTableLocation "
            "SetTableSerDeProperties SetViewProperties SetWriteDistributionAndOrdering "
            "UnsetNamespacePropertiesCommand UnsetViewProperties",
        ),
        refused(
            "Reads a source by its kind and options, without a catalog.",
            "UnresolvedCatalogRelation UnresolvedDataSource",
        ),
        refused(
            "Has no text in SQL, or never lasts until a query is analyzed. A plan that has it is not one "
            "of a query.",
            "AsOfJoin CollectMetrics DataFrameDropColumns DataSourceV2ScanRelation DomainJoin "
            "DummyExpressionHolder DummyRelation ExternalRDD InMemoryRelation LogicalQueryStage "
            "LogicalRDD OrderAwareCoalesce OrderedJoin ResolvedIdentifier ResolvedNamespace "
            "ResolvedNonPersistentFunc ResolvedPersistentFunc ResolvedPersistentView ResolvedTable "
            "ResolvedTempView ResolvedV2View ReturnAnswer ScanBuilderHolder Subquery Tail "
            "TemporaryViewRelation Transpose UnresolvedCteRelationRef UnresolvedTranspose UnresolvedView "
            "V2TableReference WindowGroupLimit",
        ),
    )
)
"""All other nodes that Spark and Iceberg have."""

QUERY_NODES = frozenset(PARSED_NODES)
ANALYZED = frozenset(ANALYZED_NODES)
