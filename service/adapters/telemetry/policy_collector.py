"""The policies in force, and what they decided."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import counters
from service.model.policies.signs import PolicySigns


class PolicyCollector(Collector):
    """`signs` returns the state of the policies at once."""

    def __init__(self, signs: Callable[[], PolicySigns]) -> None:
        self._signs = signs

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        signs = self._signs()
        yield counters(
            "sluice_policy_decisions",
            "Decisions of policies about one action on one table.",
            "outcome",
            {outcome.value: count for outcome, count in signs.decisions.items()},
        )
        yield GaugeMetricFamily(
            "sluice_policies_version", "Version of the policies in force here.", signs.version
        )
        yield GaugeMetricFamily(
            "sluice_policies_age_seconds",
            "Time since the metrics store confirmed the policies.",
            signs.age_s,
        )
