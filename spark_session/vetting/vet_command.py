"""Decisions on parsed statements other than queries: their kinds, and the names in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.errors.statement_errors import StatementNotAllowed
from spark_session.vetting.decision import Decision, allowed, refused, table_of
from spark_session.vetting.vet import allow_relations

SESSION_REQUIRED = "SESSION_REQUIRED"

METADATA_NODES: Mapping[str, Decision] = table_of(
    (
        allowed(
            "Asks what catalogs have. The answer has what its caller may know of.",
            "DescribeColumn DescribeFunction DescribeNamespace DescribeQueryCommand DescribeRelation "
            "ExplainCommand ShowCatalogsCommand ShowColumns ShowCreateTable ShowCurrentNamespaceCommand "
            "ShowFunctions ShowIcebergViews ShowNamespacesCommand ShowPartitions ShowTableProperties "
            "ShowTables ShowTablesExtended ShowViews",
        ),
    )
)
"""The statements, as Spark's parser reads them, that ask for metadata."""

SESSION_NODES: Mapping[str, Decision] = table_of(
    (
        refused(
            "Changes the values of its caller's session. Outside of a session there is nothing to change.",
            "CreateViewCommand ResetCommand SetCatalogAndNamespace SetCatalogCommand SetCommand "
            "SetNamespaceCommand",
            SESSION_REQUIRED,
        ),
        refused(
            "Drops a temporary view of its caller's session. With a schema before the name, or if the "
            "session has made the view, it drops a view of a catalog: allowed by `sql_writes`, to those who "
            "have the actions `create` and `modify`.",
            "DropIcebergView DropView",
            SESSION_REQUIRED,
        ),
    )
)
"""The statements that change a session."""

TARGET_NODES: Mapping[str, Decision] = table_of(
    (
        allowed(
            "Names what a statement is about.",
            "CurrentNamespace UnresolvedFunctionName UnresolvedIdentifier UnresolvedNamespace "
            "UnresolvedTable UnresolvedTableOrView",
        ),
    )
)
"""The plans below such a statement."""

METADATA = frozenset(METADATA_NODES)
SESSION = frozenset(SESSION_NODES)
_BUILTIN: tuple[tuple[str, ...], ...] = ((), ("builtin",), ("system", "builtin"))


def vet_command(
    kind: str, others: Sequence[str], parts: Sequence[str], *, is_function: bool, has_partition: bool
) -> None:
    """Checks the names in a statement of metadata.

    >>> vet_command("ShowTables", ["UnresolvedNamespace"], ["lake"], is_function=False, has_partition=False)
    >>> vet_command("ShowTables", ["Project"], [], is_function=False, has_partition=False)
    Traceback (most recent call last):
    service.errors.statement_errors.StatementNotAllowed: ShowTables may not have Project here.

    Raises:
        StatementNotAllowed: it holds another plan, a path, one partition, or a function of a catalog.
    """
    for other in others:
        if other not in TARGET_NODES:
            raise StatementNotAllowed(f"{kind} may not have {other} here.")
    allow_relations([parts])
    if has_partition:
        raise StatementNotAllowed("Metadata is shown of whole tables: leave PARTITION out.")
    if is_function and tuple(part.lower() for part in parts[:-1]) not in _BUILTIN:
        raise StatementNotAllowed("DESCRIBE FUNCTION knows the functions of Spark: leave out the schema.")
