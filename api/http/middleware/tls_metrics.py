"""Shows when the server's certificate is valid, and counts failed reloads."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from api.http.tls.reloading_context import ReloadingContext


class TlsMetrics(Collector):
    """Reads only memory. Without TLS, all values are 0."""

    context: ReloadingContext | None = None

    def collect(self) -> Iterable[Metric]:
        """Returns the metrics with their current values."""
        validity = None if self.context is None else self.context.validity
        begin = GaugeMetricFamily(
            "sluice_tls_certificate_begins_timestamp_seconds",
            "When the server's certificate began to be valid, in Unix time; 0: no TLS is served.",
            value=0 if validity is None else validity.begins_at.timestamp(),
        )
        expiry = GaugeMetricFamily(
            "sluice_tls_certificate_expires_timestamp_seconds",
            "When the server's certificate expires, in Unix time; 0: no TLS is served.",
            value=0 if validity is None else validity.expires_at.timestamp(),
        )
        failures = CounterMetricFamily(
            "sluice_tls_reload_failures",
            "Changes of the files for TLS that cannot be used; the previous certificates stay in use.",
            value=0 if self.context is None else self.context.failures,
        )
        return begin, expiry, failures
