"""Lists of catalogs' schemas and views, within a time limit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from service.adapters.concurrency.bounded_calls import BoundedCalls
from service.errors.unavailable import CatalogDown
from service.model.tables.contents import SchemaEntry
from service.model.tables.tables import TableName
from service.ports.tables.catalogs import CatalogContents

_CALLS_AT_MOST = 16
T = TypeVar("T")


class BoundedContents:
    """Implements `CatalogContents`; a catalog that takes longer counts as down."""

    def __init__(self, contents: CatalogContents, timeout_s: float = 10.0) -> None:
        self._contents = contents
        self._timeout_s = timeout_s
        self._calls = BoundedCalls(_CALLS_AT_MOST, (CatalogDown,))

    def schemas(self, catalog: str) -> Sequence[SchemaEntry]:
        """See the port."""
        return self._answer(catalog, partial(self._contents.schemas, catalog))

    def views(self, catalog: str, schema: str) -> Sequence[TableName]:
        """See the port."""
        return self._answer(catalog, partial(self._contents.views, catalog, schema))

    def _answer(self, catalog: str, call: Callable[[], T]) -> T:
        answers = self._calls.answers({catalog: call}, str, self._timeout_s)
        if catalog not in answers:
            raise CatalogDown(f"The catalog {catalog} does not answer.")
        return answers[catalog]
