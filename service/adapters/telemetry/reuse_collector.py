"""Queries that were answered with an earlier result, and those that were not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import counters
from service.model.query.reuse import ReuseOutcome


class ReuseCollector(Collector):
    """`outcomes` counts queries since the start, by outcome."""

    def __init__(self, outcomes: Callable[[], Mapping[ReuseOutcome, int]]) -> None:
        self._outcomes = outcomes

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        yield counters(
            "sluice_result_reuse",
            "Queries that wanted an earlier result: HIT, or why they ran.",
            "outcome",
            {outcome.value: count for outcome, count in self._outcomes().items()},
        )
