"""In-memory views; the catalog can be taken down."""

from __future__ import annotations

from service.errors.unavailable import CatalogDown
from service.model.tables.tables import TableName
from service.model.tables.views import View, ViewReading


class FakeViews:
    """A view is read alike if it still exists unchanged and is not among the `others`."""

    def __init__(self, *views: View) -> None:
        self._views = {view.name: view for view in views}
        self.others: set[TableName] = set()
        self.asked: list[TableName] = []
        self.readings: list[ViewReading] = []
        self.is_down = False

    def put(self, view: View) -> None:
        self._views[view.name] = view

    def view(self, name: TableName) -> View | None:
        self._check()
        self.asked.append(name)
        return self._views.get(name)

    def is_read_alike(self, reading: ViewReading) -> bool:
        self._check()
        self.readings.append(reading)
        name = reading.view.name
        return name not in self.others and self._views.get(name) == reading.view

    def _check(self) -> None:
        if self.is_down:
            raise CatalogDown("The catalog lake does not answer.")
