"""Counts which queries resource groups let run, and which they refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.adapters.telemetry.families import gauges
from service.errors.query_errors import QuotaExhausted, TooManyQueries
from service.model.operations.resource_groups import (
    GroupUse,
    QueryClass,
    ResourceGroups,
    group_name,
)

WAITS_S = (0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 30.0, 300.0)
CODES = (TooManyQueries.code, QuotaExhausted.code)


class RegisteredAdmissionMetrics:
    """The `AdmissionMetrics` port in a registry shared with others.

    Groups are those of the configuration, at most a hundred: all groups of single callers count as one.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self._waits = Histogram(
            "sluice_resource_group_wait_seconds",
            "Time from a query's submission until its resource group let it run.",
            ["group", "query_class"],
            buckets=WAITS_S,
            registry=registry,
        )
        self._refused = Counter(
            "sluice_resource_group_refused",
            "Queries that a resource group refused, by error code.",
            ["group", "code"],
            registry=registry,
        )

    def know(self, groups: ResourceGroups) -> None:
        """Shows each group from the start, with zeros."""
        for path, group in groups.walk():
            if not group.sub_groups:
                for query_class in QueryClass:
                    self._waits.labels(group_name(path), query_class.value)
                for code in CODES:
                    self._refused.labels(group_name(path), code)

    def admitted(self, group: str, query_class: QueryClass, waited_ms: int) -> None:
        """See the port."""
        self._waits.labels(group, query_class.value).observe(waited_ms / 1000)

    def refused(self, group: str, code: str) -> None:
        """See the port."""
        self._refused.labels(group, code).inc()


class GroupCollector(Collector):
    """How many queries wait and run in each group now; `use` must not block."""

    def __init__(self, use: Callable[[], Sequence[GroupUse]]) -> None:
        self._use = use

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        found = self._use()
        yield gauges(
            "sluice_resource_group_queued",
            "Queries of a resource group that wait, or that are being planned.",
            "group",
            {use.group: use.queued for use in found},
        )
        yield gauges(
            "sluice_resource_group_running",
            "Queries of a resource group that run.",
            "group",
            {use.group: use.running for use in found},
        )
