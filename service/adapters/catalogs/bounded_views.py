"""Views, read within a time limit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from service.adapters.concurrency.bounded_calls import BoundedCalls
from service.errors.unavailable import CatalogDown
from service.model.tables.tables import TableName
from service.model.tables.views import View, ViewReading
from service.ports.tables.catalogs import Views

_CALLS_AT_MOST = 16
T = TypeVar("T")


class BoundedViews:
    """Implements `Views`; a catalog that takes longer than the limit counts as down.

    Reading a view takes the engine about as long as reading a table; comparing takes as long as planning a
    query.
    """

    def __init__(self, views: Views, timeout_s: float = 1.0, comparing_timeout_s: float = 10.0) -> None:
        self._views = views
        self._timeout_s = timeout_s
        self._comparing_timeout_s = comparing_timeout_s
        self._calls = BoundedCalls(_CALLS_AT_MOST, (CatalogDown,))

    def view(self, name: TableName) -> View | None:
        """See the port."""
        return self._answer(name.catalog, partial(self._views.view, name), self._timeout_s)

    def is_read_alike(self, reading: ViewReading) -> bool:
        """See the port."""
        compare = partial(self._views.is_read_alike, reading)
        return self._answer(reading.view.name.catalog, compare, self._comparing_timeout_s)

    def _answer(self, catalog: str, call: Callable[[], T], within_s: float) -> T:
        answers = self._calls.answers({catalog: call}, str, within_s)
        if catalog not in answers:
            raise CatalogDown(f"The catalog {catalog} does not answer.")
        return answers[catalog]
