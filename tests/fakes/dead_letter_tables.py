"""In-memory dead letter tables, created when they are opened."""

from __future__ import annotations

from uuid import uuid4

from service.errors.unavailable import CatalogDown
from service.model.ingest.writing import TableKey, WritableTable
from service.model.tables.schemas import TableSchema
from service.model.tables.tables import PartitionField, TableName


class FakeDeadLetterTables:
    def __init__(self, schema: TableSchema) -> None:
        self.tables: dict[TableName, WritableTable] = {}
        self.is_down = False
        self._schema = schema

    def opened(self, name: TableName) -> WritableTable:
        if self.is_down:
            raise CatalogDown(f"The catalog {name.catalog} does not answer.")
        by_day = PartitionField("received_at_day", "received_at", "day")
        made = WritableTable(TableKey(name), uuid4(), 2, self._schema, 0, (by_day,), (), b"")
        return self.tables.setdefault(name, made)
