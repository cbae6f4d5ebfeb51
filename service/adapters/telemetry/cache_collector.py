"""Caches, and other bounded stores."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client.metrics_core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import gauges
from service.model.operations.usage import CacheUse


class CacheCollector(Collector):
    """Caches are added at the start; their names are the values of a label."""

    def __init__(self) -> None:
        self._caches: dict[str, Callable[[], CacheUse]] = {}

    def add(self, name: str, use: Callable[[], CacheUse]) -> None:
        """Adds a cache. `use` is called whenever the numbers are requested, and must not block."""
        self._caches[name] = use

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        found = {name: use() for name, use in self._caches.items()}
        requests = CounterMetricFamily(
            "sluice_cache_requests",
            "What was looked for in a cache, by whether it was there.",
            labels=["cache", "outcome"],
        )
        for name, use in found.items():
            if use.hits is not None and use.misses is not None:
                requests.add_metric([name, "HIT"], use.hits)
                requests.add_metric([name, "MISS"], use.misses)
        yield requests
        yield gauges(
            "sluice_cache_entries",
            "What is kept, in entries.",
            "cache",
            {name: use.entries for name, use in found.items()},
        )
        yield gauges(
            "sluice_cache_bytes",
            "What is kept, in bytes as the gateway estimates them.",
            "cache",
            {name: use.byte_count for name, use in found.items()},
        )
        yield gauges(
            "sluice_cache_max_bytes",
            "How many bytes may be kept.",
            "cache",
            {name: use.max_bytes for name, use in found.items()},
        )
