"""Query records on their way to PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector


@dataclass(frozen=True, slots=True)
class RecordsUse:
    """How many records wait, how many may wait, and how many were dropped since the start."""

    waiting: int
    capacity: int
    dropped: int


class RecordCollector(Collector):
    """The records that wait while PostgreSQL is down, and those that were dropped."""

    def __init__(self, use: Callable[[], RecordsUse]) -> None:
        self._use = use

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        use = self._use()
        yield GaugeMetricFamily(
            "sluice_query_records_waiting",
            "Records of ended queries that wait to be written to PostgreSQL.",
            use.waiting,
        )
        yield GaugeMetricFamily(
            "sluice_query_records_capacity",
            "Maximum number of records that wait; beyond it, the oldest are dropped.",
            use.capacity,
        )
        yield CounterMetricFamily(
            "sluice_query_records_dropped",
            "Dropped records: to make room for newer ones, or because PostgreSQL refused them.",
            use.dropped,
        )
