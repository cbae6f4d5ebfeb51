"""Lets a query read only what its principal may read: the analyzed plan decides.

The plan has every table that will be read: those of views, of common table expressions, at versions, and
under names that are computed. Each must be allowed. Between the query and a restricted table, the plan gets
a filter of its rows and masks of its columns.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import structlog
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from service.errors import QueryFailed, StatementNotAllowed, TableAccessDenied
from service.model.policies.actions import Action
from service.model.policies.decisions import FULL_ACCESS, Access, Allowed
from service.model.tables.restrictions import UNRESTRICTED, Restriction
from service.model.tables.tables import TableName
from spark_session.java.java_source import java_instance

if TYPE_CHECKING:
    from py4j.java_gateway import JavaGateway

HISTORY = frozenset({"SNAPSHOTS", "HISTORY", "REFS", "METADATA_LOG_ENTRIES"})
"""Metadata that says when a table was written, and nothing about its rows."""


DO_NOT_FIT = (
    "The engine cannot run this query with the policies of its tables. The gateway's log has the reason, for"
    " the operator."
)
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ReadTable:
    """A table that a query reads.

    `metadata` is the kind of its metadata that is read instead of its rows. `hidden_columns` are those that
    are in no schema, such as `_file`.
    """

    name: TableName
    parts: tuple[str, ...]
    metadata: str | None
    hidden_columns: tuple[str, ...]


class TableGuards:
    """Asks `TableGuards.java` in the driver's JVM which tables a query reads."""

    def __init__(self, gateway: JavaGateway) -> None:
        self._java = java_instance(gateway, "TableGuards", "FailingExpressions")

    def guarded(
        self,
        session: SparkSession,
        sql: str,
        frame: DataFrame,
        access: Access,
        own_names: Collection[str] = (),
    ) -> tuple[DataFrame, bool]:
        """Returns the query over its tables as the principal sees them, and whether anything is restricted.

        `frame` is the analyzed `sql`. `own_names` are views of the gateway's own, which the text may name.

        Raises:
            TableAccessDenied: the principal may not read a table or a view.
            QueryFailed: Spark cannot read a table as the policies say.
            StatementNotAllowed: the plan reads something whose name is not known.
        """
        if access is FULL_ACCESS:
            return frame, False
        found = json.loads(self._java.read(session._jsparkSession, sql, frame._jdf))
        if found["unknown"]:
            raise StatementNotAllowed(f"Policies do not cover what this query reads: {found['unknown'][0]}.")
        tables = [
            ReadTable(_name(table["name"]), tuple(table["parts"]), table["metadata"], tuple(table["columns"]))
            for table in found["tables"]
        ]
        read_as = {_lower(table.parts) for table in tables}
        for parts in found["names"]:
            is_own = len(parts) == 1 and parts[0] in own_names
            if not is_own and _lower(parts) not in read_as:
                allow_view(_name(parts), access)
        restrictions = dict(_restrictions(tables, access))
        if not restrictions:
            return frame, False
        asked = [
            {"name": _lower(parts), "rowFilter": restriction.row_filter, "masks": dict(restriction.masks)}
            for parts, restriction in restrictions.items()
        ]
        try:
            guarded = self._java.guarded(session._jsparkSession, frame._jdf, json.dumps(asked))
        except (PySparkException, Py4JJavaError) as failure:
            # Its message may have the predicates and masks, which are for operators alone.
            log.warning("policies_do_not_fit", error=type(failure).__name__, exc_info=True)
            raise QueryFailed(DO_NOT_FIT) from None
        return DataFrame(guarded, session), True


def allow_view(view: TableName, access: Access) -> None:
    """Checks that the principal may read a view.

    Raises:
        TableAccessDenied: it may not.
    """
    if _seen(view, Action.SELECT, access).is_any:
        raise TableAccessDenied(
            view, Action.SELECT, "policies restrict it, and it is a view: restrict the tables that it reads"
        )


def allow_table(table: ReadTable, access: Access) -> Restriction:
    """Returns what the principal does not see of a table.

    Raises:
        TableAccessDenied: it may not read the table, or reads metadata that shows what it does not see.
    """
    if table.metadata in HISTORY:
        _seen(table.name, Action.DESCRIBE, access)
        return UNRESTRICTED
    restriction = _seen(table.name, Action.SELECT, access)
    if restriction.is_any and table.metadata is not None:
        raise TableAccessDenied(
            table.name, Action.SELECT, "policies restrict it, and its metadata would show more"
        )
    if restriction.is_any and table.hidden_columns:
        raise TableAccessDenied(
            table.name, Action.SELECT, f"policies restrict it, and {table.hidden_columns[0]} would show more"
        )
    return restriction


def _restrictions(
    tables: Sequence[ReadTable], access: Access
) -> Iterator[tuple[tuple[str, ...], Restriction]]:
    for table in tables:
        restriction = allow_table(table, access)
        if restriction.is_any:
            yield table.name.parts, restriction


def _seen(table: TableName, action: Action, access: Access) -> Restriction:
    decision = access.decide(action, table)
    if not isinstance(decision, Allowed):
        raise TableAccessDenied(table, action)
    return decision.restriction


def _name(parts: Sequence[str]) -> TableName:
    catalog, *schema, table = parts
    return TableName(catalog, ".".join(schema), table)


def _lower(parts: Sequence[str]) -> tuple[str, ...]:
    return tuple(part.lower() for part in parts)
