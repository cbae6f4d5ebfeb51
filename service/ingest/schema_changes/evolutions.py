"""What one ingest has made and changed, to be told in its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from service.errors import GatewayError
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
    """Collects them table by table, in the order in which they were made."""

    def __init__(self) -> None:
        self._found: dict[TableName, TableEvolution] = {}

    def created(self, name: TableName) -> None:
        """The table was not there before."""
        self._found[name] = TableEvolution(name, is_created=True)

    def evolved(self, name: TableName, changes: Iterable[SchemaChange]) -> None:
        """All these changes are in the table's schema."""
        before = self._found.get(name, TableEvolution(name))
        told = tuple(told_change(each) for each in changes)
        self._found[name] = replace(before, changes=before.changes + told)

    def all(self) -> tuple[TableEvolution, ...]:
        """Those of each table that is another one now."""
        return tuple(self._found.values())


@contextmanager
def telling(made: Callable[[], tuple[TableEvolution, ...]]) -> Iterator[None]:
    """What fails inside tells what was made and changed by then: that stays."""
    try:
        yield
    except GatewayError as failure:
        failure.evolutions = made()
        raise


def told_change(change: SchemaChange) -> ColumnChange:
    """The change for people.

    >>> told_change(WidenField(("place", "zip"), "int", "long")).after
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
