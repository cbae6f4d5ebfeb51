"""Converts layout trials to and from rows of the maintenance log."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import and_

from service.adapters.postgres.maintenance.maintenance_tables import MaintenanceRow
from service.adapters.postgres.shared.storable import storable
from service.model.operations.maintenance import MaintenanceOperation, MaintenanceState
from service.model.query.layout_advice import AdviceKind, ReadAmount
from service.model.query.layout_trial import (
    LayoutTrial,
    TrialReport,
    TrialRequest,
    TrialState,
    TriedAmount,
    TriedFilter,
)
from service.model.tables.tables import TableName

CATALOG = "sluice:layout-trials"
"""Stands in place of a catalog, which cannot have such a name."""

IS_OPEN = and_(MaintenanceRow.catalog == CATALOG, MaintenanceRow.state == MaintenanceState.RUNNING.value)
"""The trial has not ended, or left a copy."""

_Json = dict[str, Any]


def schema_of(table: TableName) -> str:
    """Returns what stands in place of the schema.

    >>> schema_of(TableName("lake", "shop", "sales"))
    'lake/shop'
    """
    return storable(f"{table.catalog}/{table.schema}")


def trial_values(trial: LayoutTrial) -> _Json:
    """Returns the row of a trial that begins."""
    table = trial.request.table
    return {
        "maintenance_id": trial.trial_id,
        "catalog": CATALOG,
        "schema": schema_of(table),
        "table_name": storable(table.table),
        "branch": "main",
        "operations": [],
        "snapshot_age_s": 0,
        "snapshots_kept": 1,
        "orphan_age_s": 0,
        "requested_by": storable(trial.requested_by),
        "requested_at": trial.requested_at,
        "attempts": 1,
        "started_at": trial.requested_at,
        # An open maintenance has none, and any replica would take it up.
        "ended_at": trial.requested_at,
        **progress_values(trial),
    }


def progress_values(trial: LayoutTrial) -> _Json:
    """Returns the columns that change while it runs. `error_code` is left to whoever asks for its end."""
    is_open = not (trial.state.is_ended and trial.is_dropped)
    return {
        "state": (MaintenanceState.RUNNING if is_open else MaintenanceState.SUCCEEDED).value,
        "results": [
            {
                # Earlier versions read these three.
                "operation": MaintenanceOperation.COMPACT.value,
                "counts": {},
                "took_ms": 0,
                "trial": _document(trial),
            }
        ],
    }


def layout_trial(row: MaintenanceRow) -> LayoutTrial:
    """Returns the trial as it is now."""
    found: Any = row.results[0]["trial"]
    return LayoutTrial(
        trial_id=UUID(str(row.maintenance_id)),
        request=TrialRequest(TableName(*found["table"]), AdviceKind(found["kind"]), found["days"]),
        requested_by=row.requested_by,
        requested_at=datetime.fromisoformat(found["requested_at"]),
        state=TrialState(found["state"]),
        snapshot_id=found["snapshot_id"],
        ended_at=None if found["ended_at"] is None else datetime.fromisoformat(found["ended_at"]),
        is_dropped=found["is_dropped"],
        report=None if found["report"] is None else _report(found["report"]),
        error_code=found["error_code"],
        error_detail=found["error_detail"],
    )


def _document(trial: LayoutTrial) -> _Json:
    request, report = trial.request, trial.report
    return {
        "table": [
            storable(part) for part in (request.table.catalog, request.table.schema, request.table.table)
        ],
        "kind": request.kind.value,
        "days": request.days,
        "requested_at": trial.requested_at.isoformat(),
        "state": trial.state.value,
        "snapshot_id": trial.snapshot_id,
        "ended_at": trial.ended_at and trial.ended_at.isoformat(),
        "is_dropped": trial.is_dropped,
        "report": None if report is None else _report_document(report),
        "error_code": trial.error_code,
        "error_detail": trial.error_detail and storable(trial.error_detail),
    }


def _report_document(report: TrialReport) -> _Json:
    return {
        "columns": [storable(column) for column in report.columns],
        "transform": report.transform,
        "file_bytes": report.file_bytes,
        "scan_count": report.scan_count,
        "amount": _amount_document(report.amount),
        "table_now": _read_document(report.table_now),
        "table_predicted": _read_document(report.table_predicted),
        "table_seen": _read_document(report.table_seen),
        "is_size_predicted": report.is_size_predicted,
        "filters": [
            {
                "columns": [storable(column) for column in found.columns],
                "scan_count": found.scan_count,
                "amount": _amount_document(found.amount),
            }
            for found in report.filters
        ],
    }


def _report(found: _Json) -> TrialReport:
    return TrialReport(
        columns=tuple(found["columns"]),
        transform=found["transform"],
        file_bytes=found["file_bytes"],
        scan_count=found["scan_count"],
        amount=_amount(found["amount"]),
        table_now=ReadAmount(*found["table_now"]),
        # Trials of earlier versions took rows to need as much space as before.
        table_predicted=ReadAmount(*found["table_predicted" if "table_predicted" in found else "table_now"]),
        table_seen=ReadAmount(*found["table_seen"]),
        is_size_predicted=found.get("is_size_predicted", False),
        filters=tuple(
            TriedFilter(
                columns=tuple(one["columns"]), scan_count=one["scan_count"], amount=_amount(one["amount"])
            )
            for one in found["filters"]
        ),
    )


def _amount_document(amount: TriedAmount) -> _Json:
    return {
        "now": _read_document(amount.now),
        "predicted": _read_document(amount.predicted),
        "seen": _read_document(amount.seen),
    }


def _amount(found: _Json) -> TriedAmount:
    return TriedAmount(
        now=ReadAmount(*found["now"]),
        predicted=ReadAmount(*found["predicted"]),
        seen=ReadAmount(*found["seen"]),
    )


def _read_document(amount: ReadAmount) -> list[int]:
    return [amount.file_count, amount.byte_count]
