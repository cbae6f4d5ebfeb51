"""Finds the policies that cover a table without looking at all of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from service.model.policies.policies import ColumnMask, Grant, RowFilter
from service.model.policies.table_patterns import TablePattern
from service.model.tables.tables import TableName

P = TypeVar("P", Grant, RowFilter, ColumnMask)


class PolicyIndex(Generic[P]):
    """Policies by the parts of their patterns that have no wildcard. Each room is in the policies' order."""

    def __init__(self, policies: Sequence[P]) -> None:
        self._of_tables: defaultdict[tuple[str, ...], list[tuple[int, P]]] = defaultdict(list)
        self._of_schemas: defaultdict[tuple[str, ...], list[tuple[int, P]]] = defaultdict(list)
        self._others: list[tuple[int, P]] = []
        for entry in enumerate(policies):
            self._room(entry[1].pattern).append(entry)

    def covering(self, table: TableName) -> Iterator[P]:
        """Returns the policies whose pattern covers the table, in their order. The name is in lower case."""
        catalog, schema = table.catalog, table.schema
        found = list(self._of_tables.get((catalog, schema, table.table), ()))
        for entries in (self._of_schemas.get((catalog, schema), ()), self._others):
            found += [entry for entry in entries if entry[1].pattern.covers(table)]
        found.sort(key=_position)
        return (policy for _, policy in found)

    def _room(self, pattern: TablePattern) -> list[tuple[int, P]]:
        if "*" in pattern.catalog or "*" in pattern.schema:
            return self._others
        if "*" in pattern.table:
            return self._of_schemas[pattern.catalog, pattern.schema]
        return self._of_tables[pattern.catalog, pattern.schema, pattern.table]


def _position(entry: tuple[int, object]) -> int:
    return entry[0]
