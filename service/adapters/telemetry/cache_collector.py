"""Caches, and other bounded stores."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.metrics_core import CounterMetricFamily, Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import counters, gauges
from service.caches import Caches


class CacheCollector(Collector):
    """The names of the caches are the values of a label."""

    def __init__(self, caches: Caches) -> None:
        self._caches = caches

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        found = self._caches.uses()
        requests = CounterMetricFamily(
            "sluice_cache_requests",
            "Lookups in a cache, by whether they found an entry.",
            labels=["cache", "outcome"],
        )
        for name, use in found.items():
            if use.hits is not None and use.misses is not None:
                requests.add_metric([name, "HIT"], use.hits)
                requests.add_metric([name, "MISS"], use.misses)
        yield requests
        yield counters(
            "sluice_cache_evictions",
            "Entries that a cache gave up to make room for others.",
            "cache",
            {name: use.evictions for name, use in found.items() if use.evictions is not None},
        )
        yield gauges(
            "sluice_cache_entries",
            "Entries in a cache.",
            "cache",
            {name: use.entries for name, use in found.items()},
        )
        yield gauges(
            "sluice_cache_bytes",
            "Size of a cache in bytes, as the gateway estimates it.",
            "cache",
            {name: use.byte_count for name, use in found.items()},
        )
        yield gauges(
            "sluice_cache_max_bytes",
            "Maximum size of a cache in bytes.",
            "cache",
            {name: use.max_bytes for name, use in found.items()},
        )
