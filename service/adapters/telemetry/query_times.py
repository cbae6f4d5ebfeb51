"""How long queries take, and in which phases."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import CollectorRegistry, Histogram

from service.model.query.query import QueryRecord


class QueryTimes:
    """Four histograms with the same bounds: the whole time, and its three parts."""

    def __init__(self, registry: CollectorRegistry, bounds_s: Sequence[float]) -> None:
        self._whole = Histogram(
            "sluice_query_duration_seconds",
            "Time from a query's submission to its end.",
            buckets=bounds_s,
            registry=registry,
        )
        self._queued = Histogram(
            "sluice_query_queue_seconds",
            "Time from a query's submission until a worker took it; if no worker did, until its end.",
            buckets=bounds_s,
            registry=registry,
        )
        self._planning = Histogram(
            "sluice_query_planning_seconds",
            "Time to plan a query, including the collection of its filters' keys.",
            buckets=bounds_s,
            registry=registry,
        )
        self._running = Histogram(
            "sluice_query_running_seconds",
            "Time for which a query ran in the engine and its result was stored.",
            buckets=bounds_s,
            registry=registry,
        )

    def observe(self, record: QueryRecord) -> None:
        """Records a query that has ended; a query without a worker has neither planned nor run."""
        self._whole.observe((record.queued_ms + record.planning_ms + record.running_ms) / 1000)
        self._queued.observe(record.queued_ms / 1000)
        if record.planning_ms or record.running_ms:
            self._planning.observe(record.planning_ms / 1000)
            self._running.observe(record.running_ms / 1000)
