"""Counts table maintenance by this process, from its start."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram

from service.model.operations.maintenance import MaintenanceOperation, MaintenanceRecord, MaintenanceState

BOUNDS_S = (1.0, 5.0, 30.0, 120.0, 600.0, 3600.0)
POSTPONED = "POSTPONED"
OUTCOMES = (MaintenanceState.SUCCEEDED.value, MaintenanceState.FAILED.value, POSTPONED)


class RegisteredMaintenanceMetrics:
    """The `MaintenanceMetrics` port in a registry shared with others."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._runs = Counter(
            "sluice_maintenance_runs",
            "Maintenance runs of tables, by outcome; a POSTPONED run is tried again.",
            ["outcome"],
            registry=registry,
        )
        for outcome in OUTCOMES:
            self._runs.labels(outcome)
        self._durations = Histogram(
            "sluice_maintenance_operation_seconds",
            "Duration of a maintenance operation that was done.",
            ["operation"],
            buckets=BOUNDS_S,
            registry=registry,
        )
        for operation in MaintenanceOperation:
            self._durations.labels(operation.value)

    def ended(self, record: MaintenanceRecord) -> None:
        """Counts a maintenance that has ended, with its operations."""
        self._runs.labels(record.state.value).inc()
        for result in record.results:
            self._durations.labels(result.operation.value).observe(result.took_ms / 1000)

    def postponed(self) -> None:
        """Counts a maintenance that stays open because a part that it needs is down."""
        self._runs.labels(POSTPONED).inc()
