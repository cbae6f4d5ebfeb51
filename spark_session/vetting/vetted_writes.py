"""Decisions on statements that write: as they are parsed, and what their analyzed plans may have besides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.errors.statement_errors import StatementNotAllowed
from service.model.writes.writes import WriteKind
from spark_session.vetting.decision import Decision, allowed, refused, table_of

SQL_WRITES_OFF = "SQL_WRITES_OFF"

WRITE_NODES: Mapping[str, Decision] = table_of(
    (
        refused(
            "Writes rows. Allowed by `sql_writes`, to those who have the action `insert`.",
            "InsertIntoStatement",
            SQL_WRITES_OFF,
        ),
        refused(
            "Changes or deletes rows. Allowed by `sql_writes`, to those who have the action `modify`.",
            "DeleteFromTable MergeIntoTable UpdateTable",
            SQL_WRITES_OFF,
        ),
        refused(
            "Creates or drops a schema. Allowed by `sql_writes`, to those who may create each table in it.",
            "CreateNamespace DropNamespace",
            SQL_WRITES_OFF,
        ),
        refused(
            "Creates, replaces or drops a table of Iceberg. Allowed by `sql_writes`, to those who "
            "have the action `create`, and `modify` if there was one.",
            "CreateTable CreateTableAsSelect DropTable ReplaceTable ReplaceTableAsSelect",
            SQL_WRITES_OFF,
        ),
        refused(
            "Changes the columns, comment or properties of a table. Allowed by `sql_writes`, to those who "
            "have the action `modify`.",
            "AddColumns AlterColumns CommentOnTable DropColumns SetTableProperties UnsetTableProperties",
            SQL_WRITES_OFF,
        ),
        refused(
            "Creates or replaces a view of a catalog of Iceberg. Allowed by `sql_writes`, to those who "
            "have the action `create`, and `modify` if it may replace one.",
            "CreateIcebergView CreateView",
            SQL_WRITES_OFF,
        ),
        refused(
            "Calls a procedure that the gateway has an operation of maintenance for. Allowed by "
            "`sql_writes`, to those who have the action `maintain`.",
            "Call",
            SQL_WRITES_OFF,
        ),
        refused(
            "Gives a table, view or column another name, to which policies do not apply. Allowed by "
            "`sql_writes`, to those who have the action `admin`.",
            "RenameColumn RenameTable",
            SQL_WRITES_OFF,
        ),
    )
)
"""The statements that write, as Spark's parser reads them."""

WRITING_NODES: Mapping[str, Decision] = table_of(
    (
        allowed(
            "Writes the rows of a statement that may write, and stands in no query.",
            "AppendData MergeRows OverwriteByExpression OverwritePartitionsDynamic ReplaceData WriteDelta",
        ),
    )
)
"""The nodes that an analyzed statement has because it writes."""

DROPS_OF_VIEWS = frozenset({"DropIcebergView", "DropView"})
"""With one part in the name, they drop a temporary view of a session, or a view that it has made."""
WRITES = frozenset(WRITE_NODES) | DROPS_OF_VIEWS
WRITING = frozenset({*WRITING_NODES, "DeleteFromTable"})
"""`DeleteFromTable` stays in a plan that deletes all rows."""
NAMED = frozenset(
    {
        "UnresolvedIdentifier",
        "UnresolvedNamespace",
        "UnresolvedTable",
        "UnresolvedTableOrView",
        "ResolvedIdentifier",
    }
)
"""The nodes that name the target of such a statement, as it is parsed."""
INSTRUCTIONS = frozenset(
    {"CheckOverflowInTableInsert", "Copy", "Delete", "Discard", "Insert", "Keep", "Split", "Update"}
)
"""The expressions of a MERGE for its rows, and the check of a stored number. They stand in no query."""
_KINDS: Mapping[str, WriteKind] = {
    "AddColumns": WriteKind.ALTER_TABLE,
    "AlterColumns": WriteKind.ALTER_TABLE,
    "Call": WriteKind.CALL,
    "CommentOnTable": WriteKind.COMMENT,
    "CreateIcebergView": WriteKind.CREATE_VIEW,
    "CreateNamespace": WriteKind.CREATE_SCHEMA,
    "CreateTable": WriteKind.CREATE_TABLE,
    "CreateTableAsSelect": WriteKind.CREATE_TABLE_AS,
    "CreateView": WriteKind.CREATE_VIEW,
    "DropColumns": WriteKind.ALTER_TABLE,
    "DropIcebergView": WriteKind.DROP_VIEW,
    "DropNamespace": WriteKind.DROP_SCHEMA,
    "DropTable": WriteKind.DROP_TABLE,
    "DropView": WriteKind.DROP_VIEW,
    "RenameColumn": WriteKind.RENAME,
    "RenameTable": WriteKind.RENAME,
    "ReplaceTable": WriteKind.REPLACE_TABLE,
    "ReplaceTableAsSelect": WriteKind.REPLACE_TABLE_AS,
    "SetTableProperties": WriteKind.ALTER_TABLE,
    "UnsetTableProperties": WriteKind.ALTER_TABLE,
    "DeleteFromTable": WriteKind.DELETE,
    "InsertIntoStatement": WriteKind.INSERT,
    "MergeIntoTable": WriteKind.MERGE,
    "UpdateTable": WriteKind.UPDATE,
}

_REPLACING: Mapping[WriteKind, WriteKind] = {
    WriteKind.CREATE_VIEW: WriteKind.REPLACE_VIEW,
    WriteKind.INSERT: WriteKind.INSERT_OVERWRITE,
}
DEFINING = frozenset(_KINDS) - {
    "Call",
    "DeleteFromTable",
    "InsertIntoStatement",
    "MergeIntoTable",
    "UpdateTable",
}
"""The statements that change a catalog."""
NEW_VIEWS = frozenset({"CreateIcebergView", "CreateView"})
"""Those that keep the text of a query."""


def is_write(nodes: Sequence[str]) -> bool:
    """Whether a statement with these parsed nodes writes; its own is the first, or follows its WITH.

    >>> is_write(["UnresolvedWith", "InsertIntoStatement"]), is_write(["Project"])
    (True, False)
    >>> is_write(["Union", "InsertIntoStatement"])
    False
    """
    return next((node for node in nodes[:2] if node != "UnresolvedWith"), "") in WRITES


def kind_of(node: str, *, is_overwrite: bool = False) -> WriteKind:
    """Returns what kind of write a parsed statement is.

    >>> kind_of("InsertIntoStatement", is_overwrite=True).value
    'INSERT_OVERWRITE'

    Raises:
        StatementNotAllowed: it is one statement with several writes, or no write.
    """
    found = _KINDS.get(node)
    if found is None:
        raise StatementNotAllowed("A statement that writes has one table that it writes to.")
    return _REPLACING.get(found, found) if is_overwrite else found
