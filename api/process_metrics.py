"""Numbers of this process, which are there before the gateway is."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, generate_latest


class ProcessMetrics:
    """CPU, memory and descriptors, and whether the gateway is there to be asked."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._is_ready = Gauge(
            "sluice_ready",
            "1 from the end of the start to the beginning of the stop; /readyz tells how the parts are.",
            registry=self._registry,
        )

    def exposition(self, is_ready: bool) -> bytes:
        """All of them as they are now, in Prometheus' text format 0.0.4. Blocks for no part."""
        self._is_ready.set(is_ready)
        found: bytes = generate_latest(self._registry)
        return found
