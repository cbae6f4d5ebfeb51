"""Audit events on their way to PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from service.model.audit.events import AuditUse


class AuditCollector(Collector):
    """The events that wait while PostgreSQL is down, those that were lost, and requests that were refused."""

    def __init__(self, use: Callable[[], AuditUse]) -> None:
        self._use = use

    def collect(self) -> Iterable[Metric]:
        """See `Collector`."""
        use = self._use()
        yield GaugeMetricFamily(
            "sluice_audit_events_waiting", "Audit events that wait to be written to PostgreSQL.", use.waiting
        )
        yield GaugeMetricFamily(
            "sluice_audit_events_capacity", "Maximum number of audit events that wait.", use.capacity
        )
        yield CounterMetricFamily(
            "sluice_audit_events_written", "Audit events that were written to PostgreSQL.", use.written
        )
        yield CounterMetricFamily(
            "sluice_audit_events_dropped",
            "Audit events that PostgreSQL does not have, because the buffer was full or it rejected them.",
            use.dropped,
        )
        yield CounterMetricFamily(
            "sluice_audit_requests_refused",
            "Requests that were refused because they could not be audited.",
            use.refused,
        )
