"""How often the filter cache was of no use."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import counters


class FilterCacheCollector(Collector):
    """`failures` are calls that failed since the start, by how."""

    def __init__(self, failures: Callable[[], Mapping[str, int]]) -> None:
        self._failures = failures

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        yield counters(
            "sluice_filter_cache_errors",
            "Calls of the filter cache that failed; while it rests after one, it is not called.",
            "kind",
            self._failures(),
        )
