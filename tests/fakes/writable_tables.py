"""In-memory tables to write to, and a catalog that can be taken down."""

from __future__ import annotations

from dataclasses import replace

from service.errors.ingest_errors import IngestInvalid
from service.errors.table_errors import TableNotFound
from service.errors.unavailable import CatalogDown
from service.model.ingest.writing import TableKey, WritableTable
from service.model.tables.tables import TableName


class FakeWritableTables:
    def __init__(self, *tables: WritableTable) -> None:
        self._tables = {table.key.table: table for table in tables}
        self._tags: set[TableKey] = set()
        self.is_down = False

    def put(self, table: WritableTable) -> None:
        self._tables[table.key.table] = table

    def drop(self, name: TableName) -> None:
        del self._tables[name]

    def tag(self, name: TableName, tag: str) -> None:
        self._tags.add(TableKey(name, tag))

    def writable(self, name: TableName, branch: str) -> WritableTable:
        if self.is_down:
            raise CatalogDown(f"The catalog {name.catalog} does not answer.")
        if name not in self._tables:
            raise TableNotFound(str(name), [str(table) for table in self._tables])
        key = TableKey(name, branch)
        if key in self._tags:
            raise IngestInvalid(f"{branch} is a tag of {name}, not a branch: it cannot be written to.")
        return replace(self._tables[name], key=key)
