"""Whether queries can be answered, as numbers."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Gauge

from service.model.operations.health import PartState, Vitals


class VitalMetrics:
    """Gauges that are set when the numbers are requested."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._is_up = Gauge("sluice_engine_up", "1 while the engine answers queries.", registry=registry)
        self._engine = Gauge(
            "sluice_engine_given_up",
            "Calls and tasks that continue in the engine although no query waits for them.",
            registry=registry,
        )
        self._workers = Gauge(
            "sluice_workers_given_up",
            "Workers that are stuck in queries which have ended for their callers.",
            registry=registry,
        )

    def set(self, vitals: Vitals) -> None:
        """Sets the gauges to what is known now."""
        self._is_up.set(vitals.engine.state is PartState.UP)
        self._engine.set(vitals.engine.given_up_count)
        self._workers.set(vitals.given_up_workers)
