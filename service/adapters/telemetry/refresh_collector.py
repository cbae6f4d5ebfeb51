"""Aggregations that were brought up to date, and those that ran in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import counters
from service.model.query.refresh import RefreshOutcome


class RefreshCollector(Collector):
    """`outcomes` counts queries since the start, by outcome."""

    def __init__(self, outcomes: Callable[[], Mapping[RefreshOutcome, int]]) -> None:
        self._outcomes = outcomes

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        yield counters(
            "sluice_result_refresh",
            "Queries without a reusable result: REFRESHED, STATE_KEPT, or why no state answered them.",
            "outcome",
            {outcome.value: count for outcome, count in self._outcomes().items()},
        )
