"""Key sets that were collected before a query asked for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import counters
from service.model.query.prefetch import PrefetchOutcome


class PrefetchCollector(Collector):
    """`outcomes` counts sets since the start, by outcome."""

    def __init__(self, outcomes: Callable[[], Mapping[PrefetchOutcome, int]]) -> None:
        self._outcomes = outcomes

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        yield counters(
            "sluice_filter_prefetch",
            "Key sets that no query had asked for since a commit: COLLECTED or found, or why not.",
            "outcome",
            {outcome.value: count for outcome, count in self._outcomes().items()},
        )
