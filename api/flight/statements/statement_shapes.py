"""The columns and parameters of a statement in Arrow, before it runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from api.flight.wire.arrow_types import TypeNotRead, arrow_schema, arrow_type
from api.sql_protocols.login import ProtocolCaller
from api.sql_protocols.running_statement import RunningStatement
from api.sql_protocols.statement_runs import StatementRequest, Statements
from service.model.query.description import Description, ParameterType
from service.model.query.statement_text import first_word

NO_COLUMNS = pa.schema([])
SETTINGS = pa.schema(
    [pa.field("key", pa.string(), nullable=False), pa.field("value", pa.string(), nullable=False)]
)
"""The columns of SET, with a value and without."""
_SHOWING = frozenset({"SHOW", "DESCRIBE", "DESC"})
_CHANGING = frozenset({"USE", "RESET", "CREATE", "DROP"})


class StatementKind(StrEnum):
    """How the columns of a statement are found."""

    QUERY = "QUERY"
    SHOWING = "SHOWING"
    SETTING = "SETTING"
    CHANGING = "CHANGING"


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of the rows, and those of the values that are bound.

    Columns are not `exact` if a name could be a part of its type. They are texts then, and their types are
    known with the rows.
    """

    columns: pa.Schema
    parameters: pa.Schema = NO_COLUMNS
    is_exact: bool = True
    types: tuple[str | None, ...] = ()
    """The types of the parameters in SQL. None: the text leaves it open, and it may change the columns."""


def kind_of(sql: str) -> StatementKind:
    """Returns how the columns of a statement are found. The engine alone decides what may run.

    >>> [kind_of(sql).value for sql in ("SELECT 1", "show tables", "SET a=b", "USE shop")]
    ['QUERY', 'SHOWING', 'SETTING', 'CHANGING']
    """
    word = first_word(sql)
    if word in _SHOWING:
        return StatementKind.SHOWING
    if word == "SET":
        return StatementKind.SETTING
    return StatementKind.CHANGING if word in _CHANGING else StatementKind.QUERY


def needs_session(sql: str) -> bool:
    """Whether the statement changes the session that it is sent in."""
    return kind_of(sql) in (StatementKind.SETTING, StatementKind.CHANGING)


class Shapes:
    """Finds what statements return. Any thread may call any method.

    Args:
        statements: describes queries.
        ended: waits for a statement's end, and raises what it failed with.
    """

    def __init__(
        self, statements: Statements, ended: Callable[[RunningStatement, Callable[[], bool]], None]
    ) -> None:
        self._statements = statements
        self._ended = ended

    def of(self, caller: ProtocolCaller, request: StatementRequest, is_gone: Callable[[], bool]) -> Shape:
        """Returns the shape of a statement. A query is not run; a SHOW is, because it cannot be described.

        Raises:
            GatewayError: the statement could not be run.
        """
        match kind_of(request.sql):
            case StatementKind.SETTING:
                return Shape(SETTINGS)
            case StatementKind.CHANGING:
                return Shape(NO_COLUMNS)
            case StatementKind.SHOWING:
                running = self._statements.start(caller, request)
                self._ended(running, is_gone)
                return Shape(running.schema())
            case StatementKind.QUERY:
                return _described(self._statements.describe(caller, request, is_gone))


def _described(description: Description) -> Shape:
    parameters = pa.schema([_parameter(kind) for kind in description.parameters])
    types = tuple(kind.type_name for kind in description.parameters)
    try:
        return Shape(arrow_schema(description.columns), parameters, types=types)
    except TypeNotRead:
        columns = [
            pa.field(column.name, _type(column.type_name), column.is_nullable)
            for column in description.columns
        ]
        return Shape(pa.schema(columns), parameters, is_exact=False, types=types)


def _parameter(kind: ParameterType) -> pa.Field:
    # A driver that does not know a type binds texts alone.
    return pa.field(kind.name, _type(kind.type_name or "STRING"))


def _type(spelled: str) -> pa.DataType:
    try:
        return arrow_type(spelled)
    except TypeNotRead:
        return pa.string()
