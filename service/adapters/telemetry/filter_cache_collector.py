"""Failed calls of the filter cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import counters


class FilterCacheCollector(Collector):
    """`failures` counts the calls that failed since the start, by kind."""

    def __init__(self, failures: Callable[[], Mapping[str, int]]) -> None:
        self._failures = failures

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        yield counters(
            "sluice_filter_cache_errors",
            "Failed calls of the filter cache; after a failure the gateway does not call it for a while.",
            "kind",
            self._failures(),
        )
