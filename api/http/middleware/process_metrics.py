"""Numbers of this process, which are there before the gateway is."""

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
from api.http.middleware.http_metrics import HttpMetrics


class ProcessMetrics:
    """CPU, memory and descriptors, what is sent by HTTP, and whether the gateway is there to be asked."""

    def __init__(self) -> None:
        # In this text format nobody reads since when a series is counted, and it would be half of the answer.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self.http = HttpMetrics(self._registry)
        ProcessCollector(registry=self._registry)
        self._registry.register(MemoryCollector())
        self._is_ready = Gauge(
            "sluice_ready",
            "1 from the end of the start to the beginning of the stop; /readyz tells how the parts are.",
            registry=self._registry,
        )
        versions = Gauge(
            "sluice_build_info",
            "Always 1; its labels have the versions.",
            ["version", "spark", "python"],
            registry=self._registry,
        )
        versions.labels(version_of(), version_of("pyspark"), platform.python_version()).set(1)

    def exposition(self, is_ready: bool) -> bytes:
        """All of them as they are now, in Prometheus' text format 0.0.4. Blocks for no part."""
        self._is_ready.set(is_ready)
        found: bytes = generate_latest(self._registry)
        return found
