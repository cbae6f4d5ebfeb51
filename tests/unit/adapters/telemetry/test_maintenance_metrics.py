"""Metrics of maintenance and of streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from prometheus_client import CollectorRegistry

from service.adapters.telemetry.maintenance_metrics import RegisteredMaintenanceMetrics
from service.adapters.telemetry.stream_metrics import RegisteredStreamMetrics
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import (
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceRequest,
    MaintenanceState,
    OperationResult,
)
from service.model.tables.tables import TableName
from tests.fakes.maintenance import BOUNDS

REQUEST = MaintenanceRequest(
    TableKey(TableName("lake", "logs", "events")), (MaintenanceOperation.COMPACT,), BOUNDS
)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DONE = MaintenanceRecord(
    UUID(int=1),
    REQUEST,
    "ann",
    NOON,
    state=MaintenanceState.SUCCEEDED,
    results=(OperationResult(MaintenanceOperation.COMPACT, {}, 2_000),),
)


def numbers(registry: CollectorRegistry) -> Mapping[str, float]:
    return {
        " ".join((sample.name, *sample.labels.values())): sample.value
        for family in registry.collect()
        for sample in family.samples
    }


def test_maintenance_is_counted_by_its_outcome_and_operations_by_their_time() -> None:
    registry = CollectorRegistry()
    metrics = RegisteredMaintenanceMetrics(registry)
    metrics.ended(DONE)
    metrics.ended(replace(DONE, state=MaintenanceState.FAILED, results=()))
    metrics.postponed()
    metrics.postponed()
    found = numbers(registry)
    assert found["sluice_maintenance_runs_total SUCCEEDED"] == 1
    assert found["sluice_maintenance_runs_total FAILED"] == 1
    assert found["sluice_maintenance_runs_total POSTPONED"] == 2
    assert found["sluice_maintenance_operation_seconds_sum compact"] == 2
    assert found["sluice_maintenance_operation_seconds_count expire"] == 0


def test_batches_and_failures_of_streams_are_counted() -> None:
    registry = CollectorRegistry()
    metrics = RegisteredStreamMetrics(registry)
    metrics.batch_done()
    metrics.failed("ENGINE_LOST")
    found = numbers(registry)
    assert found["sluice_stream_batches_total"] == 1
    assert found["sluice_stream_failures_total ENGINE_LOST"] == 1
