"""Filters to request from a filter cache, and a function that collects their keys."""

from __future__ import annotations

import threading
from uuid import uuid4

from service.model.filters.dynamic_filter import Build, DynamicFilter, JoinType, Probe
from service.model.filters.key_set import DynamicFilteringData, Key
from service.model.tables.tables import TableName

SALES = TableName("lake", "tpcds", "store_sales")
DATES = TableName("lake", "tpcds", "date_dim")


def date_filter(fingerprint: str | None = None, type_names: tuple[str, ...] = ("long",)) -> DynamicFilter:
    """Returns a filter; without a given fingerprint, one that was never requested."""
    columns = tuple(f"k{index}" for index in range(len(type_names)))
    return DynamicFilter(
        filter_id="df1",
        join_type=JoinType.INNER,
        probe=Probe(SALES, columns, type_names, 1),
        build=Build((DATES,), ("d_date_sk",), "d_year = 2000", (2,)),
        filtering_query="SELECT d_date_sk FROM date_dim WHERE d_year = 2000",
        fingerprint=fingerprint or uuid4().hex,
    )


def keys_of(*values: Key) -> DynamicFilteringData:
    return DynamicFilteringData(values, is_filtering=True)


DAYS = keys_of(*((day,) for day in range(2451545, 2451911)))


class Collecting:
    """A collecting function that counts its calls, and can wait or fail."""

    def __init__(self, data: DynamicFilteringData = DAYS, failure: Exception | None = None) -> None:
        self.data = data
        self.failure = failure
        self.count = 0
        self.note = ""
        self.has_begun = threading.Event()
        self.may_end = threading.Event()
        self.may_end.set()
        self._lock = threading.Lock()

    def __call__(self, note: str) -> DynamicFilteringData:
        with self._lock:
            self.count += 1
            self.note = note
        self.has_begun.set()
        self.may_end.wait(20)
        if self.failure is not None:
            raise self.failure
        return self.data
