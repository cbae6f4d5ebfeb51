"""The engine's own catalog in memory; it can be taken down."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors.unavailable import CatalogDown
from service.model.tables.tables import TableFacts, TableName


class FakeSessionTables:
    """Lists in `max_ages_ms` how old a cached file list each question accepts, in milliseconds."""

    def __init__(self, *tables: TableFacts) -> None:
        self._tables = {table.name: table for table in tables}
        self.max_ages_ms: list[int] = []
        self.is_down = False

    def put(self, facts: TableFacts) -> None:
        self._tables[facts.name] = facts

    def tables(self) -> Sequence[TableName]:
        self.check()
        return list(self._tables)

    def facts(self, name: TableName, max_age_ms: int) -> TableFacts | None:
        self.check()
        self.max_ages_ms.append(max_age_ms)
        return self._tables.get(name)

    def check(self) -> None:
        if self.is_down:
            raise CatalogDown("The catalog spark_catalog does not answer.")
