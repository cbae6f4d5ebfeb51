"""Schemas and views in memory; each catalog can be taken down."""

from __future__ import annotations

from collections.abc import Sequence

from service.errors.unavailable import CatalogDown
from service.model.tables.contents import SchemaEntry
from service.model.tables.tables import TableName


class FakeContents:
    """The `CatalogContents` port."""

    def __init__(self, schemas: Sequence[SchemaEntry] = (), views: Sequence[TableName] = ()) -> None:
        self._schemas = list(schemas)
        self._views = list(views)
        self.down: set[str] = set()

    def schemas(self, catalog: str) -> Sequence[SchemaEntry]:
        self._check(catalog)
        return [entry for entry in self._schemas if entry.catalog == catalog]

    def views(self, catalog: str, schema: str) -> Sequence[TableName]:
        self._check(catalog)
        return [view for view in self._views if (view.catalog, view.schema) == (catalog, schema)]

    def _check(self, catalog: str) -> None:
        if catalog in self.down:
            raise CatalogDown(f"The catalog {catalog} does not answer.")
