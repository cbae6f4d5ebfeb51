"""Partition values of tables without snapshots, from their listings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from service.bounded_lru import BoundedLru
from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.filters.key_set import KeyValue
from service.model.filters.partition_tuples import PartitionTuples
from service.model.tables.tables import TableFacts, TableName
from service.ports.filters.filter_keys import ProbeValues

_MIB = 1024**2
_MAX_CACHED = 10_000
# Measured: a value, and its slot in a tuple; a string takes its characters in addition.
_VALUE_BYTES = 64


class ListedValues:
    """Implements `ProbeValues`; it passes tables with snapshots on to `others`.

    It lists nothing itself: `listed` receives the values found while a table is listed for its facts.
    Thread-safe.
    """

    def __init__(self, others: ProbeValues, max_cached_bytes: int = 32 * _MIB) -> None:
        self._others = others
        self._cached: BoundedLru[TableName, Mapping[str, ColumnValues]] = BoundedLru(
            _MAX_CACHED, max_cached_bytes
        )

    def listed(self, facts: TableFacts, texts: Mapping[str, Sequence[str | None]]) -> None:
        """Caches the partitions' values by column, None for NULL, and replaces earlier ones."""
        types = {column.name: column.type_name for column in facts.columns}
        found = {column: _column_values(types.get(column), text) for column, text in texts.items()}
        known = {
            column: column_values for column, column_values in found.items() if column_values is not None
        }
        byte_count = sum(_VALUE_BYTES + len(text or "") for column in known for text in texts[column])
        self._cached.put(facts.name, known, byte_count + _VALUE_BYTES)

    def prepare(self, table: TableName, snapshot_id: int | None, columns: Sequence[str]) -> None:
        """See the port."""
        if snapshot_id is not None:
            self._others.prepare(table, snapshot_id, columns)

    def of(
        self, table: TableName, snapshot_id: int | None, column: str, within_s: float = 0.0
    ) -> ColumnValues | NotKnown:
        """See the port."""
        if snapshot_id is not None:
            return self._others.of(table, snapshot_id, column, within_s)
        return (self._cached.get(table) or {}).get(column, NotKnown.UNAVAILABLE)

    def partitions(
        self, table: TableName, snapshot_id: int | None, columns: Sequence[str]
    ) -> PartitionTuples | None:
        """See the port."""
        return self._others.partitions(table, snapshot_id, columns)


def _column_values(type_name: str | None, texts: Sequence[str | None]) -> ColumnValues | None:
    """None for values that cannot be parsed, and for types with more than one spelling of a value."""
    try:
        # Values of one column can be compared with each other, although their common type does not say so.
        values: list[Any] = sorted({_value(type_name, text) for text in texts if text is not None})
    except ValueError:
        return None
    lower, upper = (values[0], values[-1]) if values else (None, None)
    has_null = None in texts
    return ColumnValues(tuple(values), lower, upper, is_clustered=False, is_pinned=False, has_null=has_null)


def _value(type_name: str | None, text: str) -> KeyValue:
    match type_name:
        case "int" | "long":
            return int(text)
        case "date":
            return date.fromisoformat(text)
        case "string":
            return text
        case "boolean" if text in ("true", "false"):
            return text == "true"
        case _:
            raise ValueError(text)
