"""Tables to write to, in memory, and a catalog that can be taken down."""

from __future__ import annotations

from dataclasses import replace

from service.errors import CatalogDown, TableNotFound
from service.model.tables import TableName
from service.model.writing import TableKey, WritableTable


class FakeWritableTables:
    def __init__(self, *tables: WritableTable) -> None:
        self._tables = {each.key.table: each for each in tables}
        self.is_down = False

    def put(self, table: WritableTable) -> None:
        self._tables[table.key.table] = table

    def drop(self, name: TableName) -> None:
        del self._tables[name]

    def writable(self, name: TableName, branch: str) -> WritableTable:
        if self.is_down:
            raise CatalogDown(f"The catalog {name.catalog} does not answer.")
        if name not in self._tables:
            raise TableNotFound(str(name), [str(each) for each in self._tables])
        return replace(self._tables[name], key=TableKey(name, branch))
