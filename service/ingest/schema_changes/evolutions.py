"""Collects the tables that one ingest created and changed, for its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from service.errors.gateway_error import GatewayError
from service.model.tables.schema_changes import (
    AddField,
    ColumnChange,
    ColumnChangeKind,
    MakeOptional,
    SchemaChange,
    TableEvolution,
    WidenField,
)
from service.model.tables.schemas import type_text
from service.model.tables.tables import TableName


class Evolutions:
    """The created and changed tables, in the order of their first change."""

    def __init__(self) -> None:
        self._found: dict[TableName, TableEvolution] = {}

    def created(self, name: TableName) -> None:
        """Notes that the table was created."""
        self._found[name] = TableEvolution(name, is_created=True)

    def evolved(self, name: TableName, changes: Iterable[SchemaChange]) -> None:
        """Notes that all these changes are in the table's schema."""
        before = self._found.get(name, TableEvolution(name))
        reported = tuple(reported_change(change) for change in changes)
        self._found[name] = replace(before, changes=before.changes + reported)

    def all(self) -> tuple[TableEvolution, ...]:
        """Returns the evolution of each created or changed table."""
        return tuple(self._found.values())


@contextmanager
def reporting(made: Callable[[], tuple[TableEvolution, ...]]) -> Iterator[None]:
    """Attaches the changes made so far to an error raised inside, because they stay."""
    try:
        yield
    except GatewayError as failure:
        failure.evolutions = made()
        raise


def reported_change(change: SchemaChange) -> ColumnChange:
    """Returns the change for people.

    >>> reported_change(WidenField(("place", "zip"), "int", "long")).after
    'long'
    """
    name = ".".join(change.path)
    match change:
        case AddField(_, field):
            return ColumnChange(name, ColumnChangeKind.ADDED, after=type_text(field.type))
        case WidenField(_, before, after):
            return ColumnChange(name, ColumnChangeKind.WIDENED, before, after)
        case MakeOptional():
            return ColumnChange(name, ColumnChangeKind.MADE_OPTIONAL)
