"""No caller waits for a view longer than the timeout."""

from __future__ import annotations

from threading import Event

import pytest

from service.adapters.catalogs.bounded_views import BoundedViews
from service.errors.unavailable import CatalogDown
from service.model.tables.tables import TableName
from service.model.tables.views import View, ViewReading
from tests.fakes.views import FakeViews

NAME = TableName("lake", "shop", "v")
VIEW = View(NAME, "SELECT 1 AS k", "lake", ("shop",), ())
READING = ViewReading(VIEW, VIEW.sql, None, None)


class Hanging(FakeViews):
    def __init__(self) -> None:
        super().__init__(VIEW)
        self.is_over = Event()

    def view(self, name: TableName) -> View | None:
        self.is_over.wait()
        return super().view(name)

    def is_read_alike(self, reading: ViewReading) -> bool:
        self.is_over.wait()
        return super().is_read_alike(reading)


def test_a_catalog_that_hangs_is_down() -> None:
    hanging = Hanging()
    views = BoundedViews(hanging, timeout_s=0.01, comparing_timeout_s=0.01)
    with pytest.raises(CatalogDown):
        views.view(NAME)
    with pytest.raises(CatalogDown):
        views.is_read_alike(READING)
    hanging.is_over.set()


def test_answers_and_failures_are_those_of_the_catalog() -> None:
    fake = FakeViews(VIEW)
    views = BoundedViews(fake, timeout_s=60.0)
    assert views.view(NAME) == VIEW
    assert views.view(TableName("lake", "shop", "w")) is None
    assert views.is_read_alike(READING)
    fake.is_down = True
    with pytest.raises(CatalogDown):
        views.view(NAME)
