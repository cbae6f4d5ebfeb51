"""Returns the values that a test put: at once if it may wait, otherwise from the second question on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from service.model.filters.column_values import ColumnValues, NotKnown
from service.model.filters.partition_tuples import PartitionTuples
from service.model.tables.tables import TableName


class FakeProbeValues:
    def __init__(self) -> None:
        self._reported: dict[tuple[TableName, int | None, str], ColumnValues | NotKnown] = {}
        self._found: set[tuple[TableName, int | None, str]] = set()
        self.asked: list[tuple[TableName, int | None, str]] = []
        self.is_slow = False
        self.tuples: dict[tuple[TableName, int | None], PartitionTuples] = {}

    def put(
        self, table: TableName, snapshot_id: int | None, column: str, values: ColumnValues | NotKnown
    ) -> None:
        self._reported[table, snapshot_id, column] = values

    def settle(self) -> None:
        """Makes the values of all earlier questions known."""
        self._found |= set(self.asked)

    def prepare(self, table: TableName, snapshot_id: int | None, columns: Sequence[str]) -> None:
        self.asked += [(table, snapshot_id, column) for column in columns]

    def of(
        self, table: TableName, snapshot_id: int | None, column: str, within_s: float = 0.0
    ) -> ColumnValues | NotKnown:
        asked = (table, snapshot_id, column)
        self.asked.append(asked)
        if within_s > 0 and not self.is_slow:
            self._found.add(asked)
        if snapshot_id is None:
            return NotKnown.UNAVAILABLE
        if asked in self._found:
            return self._reported.get(asked, NotKnown.UNAVAILABLE)
        return self._of_earlier(table, column)

    def partitions(
        self, table: TableName, snapshot_id: int | None, columns: Sequence[str]
    ) -> PartitionTuples | None:
        known = self.tuples.get((table, snapshot_id))
        is_read = any(key[:2] == (table, snapshot_id) for key in self._found)
        return known.of(columns) if known is not None and is_read else None

    def _of_earlier(self, table: TableName, column: str) -> ColumnValues | NotKnown:
        known = (self._reported.get(key) for key in self._found if (key[0], key[2]) == (table, column))
        earlier = [values for values in known if isinstance(values, ColumnValues)]
        if not earlier:
            return NotKnown.PENDING
        return replace(earlier[-1], values=None, sizes=None, is_pinned=False, is_current=False)
