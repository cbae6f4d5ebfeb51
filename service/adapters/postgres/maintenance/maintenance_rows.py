"""Converts maintenance records to and from rows of their log."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from service.adapters.postgres.maintenance.maintenance_tables import MaintenanceRow
from service.adapters.postgres.shared.storable import storable
from service.model.ingest.writing import TableKey
from service.model.json_fields import JsonFields
from service.model.operations.maintenance import (
    MaintenanceBounds,
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceRequest,
    MaintenanceState,
    OperationResult,
)
from service.model.tables.tables import TableName


def maintenance_values(record: MaintenanceRecord) -> dict[str, object]:
    """Returns the record's row."""
    key, bounds = record.request.key, record.request.bounds
    return {
        "maintenance_id": record.maintenance_id,
        "catalog": key.table.catalog,
        "schema": key.table.schema,
        "table_name": key.table.table,
        "branch": key.branch,
        "operations": [operation.value for operation in record.request.operations],
        "snapshot_age_s": int(bounds.snapshot_age.total_seconds()),
        "snapshots_kept": bounds.snapshots_kept,
        "orphan_age_s": int(bounds.orphan_age.total_seconds()),
        "requested_by": storable(record.requested_by),
        "requested_at": record.requested_at,
        **progress_values(record),
    }


def progress_values(record: MaintenanceRecord) -> dict[str, object]:
    """Returns the columns that change while it runs."""
    return {
        "state": record.state.value,
        "attempts": record.attempts,
        "started_at": record.started_at,
        "ended_at": record.ended_at,
        "results": [
            {"operation": result.operation.value, "counts": dict(result.counts), "took_ms": result.took_ms}
            for result in record.results
        ],
        "error_code": record.error_code,
        "error_detail": record.error_detail and storable(record.error_detail),
    }


def maintenance_record(row: MaintenanceRow) -> MaintenanceRecord:
    """Returns the record as it is now."""
    return MaintenanceRecord(
        row.maintenance_id,
        _request(row),
        row.requested_by,
        row.requested_at.astimezone(UTC),
        MaintenanceState(row.state),
        row.attempts,
        _utc(row.started_at),
        _utc(row.ended_at),
        tuple(_result(JsonFields(result)) for result in row.results),
        row.error_code,
        row.error_detail,
    )


def _request(row: MaintenanceRow) -> MaintenanceRequest:
    return MaintenanceRequest(
        TableKey(TableName(row.catalog, row.schema, row.table_name), row.branch),
        tuple(MaintenanceOperation(operation) for operation in row.operations),
        MaintenanceBounds(
            snapshot_age=timedelta(seconds=row.snapshot_age_s),
            snapshots_kept=row.snapshots_kept,
            orphan_age=timedelta(seconds=row.orphan_age_s),
        ),
    )


def _result(fields: JsonFields) -> OperationResult:
    return OperationResult(
        MaintenanceOperation(fields.text("operation")), fields.counts("counts"), fields.integer("took_ms")
    )


def _utc(moment: datetime | None) -> datetime | None:
    return moment and moment.astimezone(UTC)
