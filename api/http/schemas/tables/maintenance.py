"""The bodies and answers of POST and GET /tables/{name}/maintenance."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated
from uuid import UUID

from pydantic import BeforeValidator, Field

from api.http.schemas.ingests.ingest_answer import CommitError
from api.http.schemas.ingests.ingest_request import Branch
from api.http.schemas.wire import StrictModel, WireModel
from service.maintenance.maintenance_service import MaintenancePlan
from service.model.ingest.writing import TableKey
from service.model.operations.maintenance import (
    MaintenanceBounds,
    MaintenanceOperation,
    MaintenanceRecord,
    MaintenanceRequest,
    MaintenanceState,
    OperationResult,
)
from service.model.tables.tables import TableName

_YEARS = 24 * 3650


def _whole(value: object) -> object:
    # In JSON Schema, 7.0 is an integer too.
    return int(value) if isinstance(value, float) and value.is_integer() else value


_WHOLE = BeforeValidator(_whole)
Operation = Annotated[MaintenanceOperation, Field(strict=False)]


class MaintenanceBody(StrictModel):
    """The operations to run: compact first, removeOrphans last. Values left out are the operator's.

    No value may be below the operator's floors, which `GET /tables/{name}/maintenance` has.
    """

    operations: Annotated[
        list[Operation],
        Field(
            min_length=1,
            max_length=3,
            description="compact: rewrites files until none has deletes; expire: removes old snapshots; "
            "removeOrphans: deletes old files that no snapshot has",
        ),
    ]
    branch: Annotated[Branch, Field(description="for compact")] = "main"
    snapshots_older_than_hours: Annotated[
        Annotated[int, Field(ge=0, le=_YEARS), _WHOLE] | None,
        Field(description="for expire: younger snapshots stay"),
    ] = None
    retain_last: Annotated[
        Annotated[int, Field(ge=1, le=100_000), _WHOLE] | None,
        Field(description="for expire: so many of the newest snapshots stay"),
    ] = None
    orphans_older_than_hours: Annotated[
        Annotated[int, Field(ge=24, le=_YEARS), _WHOLE] | None,
        Field(description="for removeOrphans: younger files stay"),
    ] = None


class OperationAnswer(WireModel):
    """The result of one operation."""

    operation: MaintenanceOperation
    counts: Annotated[dict[str, int], Field(description="such as rewrittenDataFiles, expiredSnapshots")]
    took_ms: int


class MaintenanceLinks(WireModel):
    """The maintenance's own address."""

    self: str


class MaintenanceAnswer(WireModel):
    """A maintenance, as it is now. A time is null until it is reached."""

    maintenance_id: UUID
    table: str
    branch: str
    state: MaintenanceState
    operations: list[MaintenanceOperation]
    requested_by: Annotated[str, Field(description="a caller, or `schedule`")]
    requested_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    results: Annotated[list[OperationAnswer], Field(description="of the operations that have ended")]
    error: CommitError | None
    links: MaintenanceLinks


class ScheduleAnswer(WireModel):
    """The maintenance that the gateway does by itself."""

    is_on: bool
    interval_s: Annotated[
        int, Field(description="seconds after an upsert through this gateway, and at least between two")
    ]
    appended_files: Annotated[
        int, Field(description="so many ingested files are compacted, as often at most; 0: they are not")
    ]
    idle_s: Annotated[
        int, Field(description="seconds after an ingest until all of it is done, if not done since; 0: never")
    ]
    operations: list[MaintenanceOperation]


class FloorsAnswer(WireModel):
    """The operator's floors: no request, of whomever, may remove more."""

    snapshots_older_than_hours: Annotated[int, Field(description="younger snapshots stay")]
    retain_last: Annotated[int, Field(description="so many of the newest snapshots stay")]
    orphans_older_than_hours: Annotated[int, Field(description="younger files stay")]


class MaintenancesAnswer(WireModel):
    """The table's maintenance, the newest first."""

    schedule: ScheduleAnswer
    floors: FloorsAnswer
    may_request: Annotated[
        bool, Field(description="whether this caller may send POST /tables/{name}/maintenance")
    ]
    maintenances: list[MaintenanceAnswer]


def maintenance_request(
    body: MaintenanceBody, table: TableName, default: MaintenanceBounds
) -> MaintenanceRequest:
    """Returns the maintenance that the body requests."""
    return MaintenanceRequest(
        TableKey(table, body.branch),
        tuple(dict.fromkeys(body.operations)),
        MaintenanceBounds(
            snapshot_age=_hours(body.snapshots_older_than_hours, default.snapshot_age),
            snapshots_kept=default.snapshots_kept if body.retain_last is None else body.retain_last,
            orphan_age=_hours(body.orphans_older_than_hours, default.orphan_age),
        ),
    )


def _hours(hours: int | None, default: timedelta) -> timedelta:
    return default if hours is None else timedelta(hours=hours)


def maintenance_answer(record: MaintenanceRecord) -> MaintenanceAnswer:
    """Returns the record as it is on the wire."""
    key = record.request.key
    error = (
        CommitError(code=record.error_code, detail=record.error_detail or "") if record.error_code else None
    )
    return MaintenanceAnswer(
        maintenance_id=record.maintenance_id,
        table=str(key.table),
        branch=key.branch,
        state=record.state,
        operations=list(record.request.operations),
        requested_by=record.requested_by,
        requested_at=record.requested_at,
        started_at=record.started_at,
        ended_at=record.ended_at,
        results=[_operation(result) for result in record.results],
        error=error,
        links=MaintenanceLinks(self=f"/tables/{key.table}/maintenance/{record.maintenance_id}"),
    )


def schedule_answer(plan: MaintenancePlan) -> ScheduleAnswer:
    """Returns the schedule as it is on the wire."""
    return ScheduleAnswer(
        is_on=plan.is_scheduled,
        interval_s=int(plan.interval.total_seconds()),
        appended_files=plan.appended_files,
        idle_s=int(plan.idle.total_seconds()),
        operations=list(plan.operations),
    )


def floors_answer(floors: MaintenanceBounds) -> FloorsAnswer:
    """Returns the operator's floors as they are on the wire."""
    return FloorsAnswer(
        snapshots_older_than_hours=floors.snapshot_age // timedelta(hours=1),
        retain_last=floors.snapshots_kept,
        orphans_older_than_hours=floors.orphan_age // timedelta(hours=1),
    )


def _operation(result: OperationResult) -> OperationAnswer:
    return OperationAnswer(operation=result.operation, counts=dict(result.counts), took_ms=result.took_ms)
