"""Metrics of this process, which exist before the gateway does."""

from __future__ import annotations

import platform

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from api.bootstrap.container_memory import MemoryCollector
from api.bootstrap.version import version_of
from api.http.middleware.authentication_metrics import AuthenticationMetrics
from api.http.middleware.http_metrics import HttpMetrics
from api.http.middleware.tls_metrics import TlsMetrics


class ProcessMetrics:
    """CPU, memory and descriptors, HTTP metrics, and whether the gateway is ready."""

    def __init__(self) -> None:
        # The time at which a series began is not used in this text format, and would be half of the answer.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self.http = HttpMetrics(self._registry)
        self.tls = TlsMetrics()
        self._registry.register(self.tls)
        self.authentication = AuthenticationMetrics(self._registry)
        ProcessCollector(registry=self._registry)
        self._registry.register(MemoryCollector())
        self._is_ready = Gauge(
            "sluice_ready",
            "1 from the end of the start to the beginning of the stop; /readyz reports the state of the"
            " parts.",
            registry=self._registry,
        )
        versions = Gauge(
            "sluice_build_info",
            "Always 1; the labels have the versions.",
            ["version", "spark", "python"],
            registry=self._registry,
        )
        versions.labels(version_of(), version_of("pyspark"), platform.python_version()).set(1)

    @property
    def registry(self) -> CollectorRegistry:
        """Where servers of other protocols register their metrics."""
        return self._registry

    def exposition(self, is_ready: bool) -> bytes:
        """Returns all metrics in Prometheus' text format 0.0.4, without waiting for any part."""
        self._is_ready.set(is_ready)
        found: bytes = generate_latest(self._registry)
        return found
