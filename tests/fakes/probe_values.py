"""Knows what it was told, from the second question on."""

from __future__ import annotations

from service.model.column_values import ColumnValues
from service.model.tables import TableName


class FakeProbeValues:
    def __init__(self) -> None:
        self._told: dict[tuple[TableName, int | None, str], ColumnValues] = {}
        self._found: set[tuple[TableName, int | None, str]] = set()
        self.asked: list[tuple[TableName, int | None, str]] = []

    def put(self, table: TableName, snapshot_id: int | None, column: str, values: ColumnValues) -> None:
        self._told[table, snapshot_id, column] = values

    def settle(self) -> None:
        """Whatever was asked is known now."""
        self._found |= self._told.keys() & set(self.asked)

    def of(self, table: TableName, snapshot_id: int | None, column: str) -> ColumnValues | None:
        asked = (table, snapshot_id, column)
        self.asked.append(asked)
        return self._told[asked] if asked in self._found else None
