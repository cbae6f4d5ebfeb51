"""Bounded pools of threads, processes and connections."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import gauges
from service.model.operations.usage import PoolUse


class PoolCollector(Collector):
    """Pools are added at the start; their names are the values of a label."""

    def __init__(self) -> None:
        self._pools: dict[str, Callable[[], PoolUse]] = {}

    def add(self, name: str, use: Callable[[], PoolUse]) -> None:
        """Adds a pool. `use` is called whenever the numbers are requested, and must not block."""
        self._pools[name] = use

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        found = {name: use() for name, use in self._pools.items()}
        yield gauges(
            "sluice_pool_busy",
            "Threads, processes or connections of a pool that are in use.",
            "pool",
            {name: use.busy for name, use in found.items()},
        )
        yield gauges(
            "sluice_pool_size",
            "Size of a pool.",
            "pool",
            {name: use.size for name, use in found.items()},
        )
        yield gauges(
            "sluice_pool_waiting",
            "Tasks that wait for a place in a pool, where the number is known.",
            "pool",
            {name: use.waiting for name, use in found.items()},
        )
