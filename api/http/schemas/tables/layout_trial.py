"""The bodies and answers of /advice/{name}/trials."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from api.http.schemas.ingests.ingest_answer import CommitError
from api.http.schemas.tables.layout_advice import ReadAmountAnswer
from api.http.schemas.wire import StrictModel, WireModel
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


class TrialBody(StrictModel):
    """The kind of advice to try, as `GET /advice/{name}` has it at that moment."""

    kind: Annotated[
        Literal["PARTITION", "SORT", "FILE_SIZE", "COMPACTION"],
        Field(description="not of bloom filters: what they skip is inside files"),
    ]
    days: Annotated[
        int | None,
        Field(ge=1, le=3650, description="for scans of so many days; at most, and unset: the operator's"),
    ] = None


class TriedAmountAnswer(WireModel):
    """Files and bytes that scans select of the table now, by prediction, and of the changed copy."""

    now: ReadAmountAnswer
    predicted: ReadAmountAnswer
    seen: ReadAmountAnswer
    difference: Annotated[
        float | None,
        Field(description="predicted less seen bytes, as a share of the seen ones; null if nothing was seen"),
    ]


class TriedFilterAnswer(TriedAmountAnswer):
    """Equal scans, by the columns that they were filtered by."""

    columns: list[str]
    scans: int


class TrialReportAnswer(TriedAmountAnswer):
    """The sums of all scans, and the filters that read most."""

    columns: list[str]
    transform: str | None
    file_bytes: int | None
    scans: int
    table_now: Annotated[ReadAmountAnswer, Field(description="the data files of the table")]
    table_predicted: Annotated[
        ReadAmountAnswer, Field(description="the data files of the table after the change, by prediction")
    ]
    table_seen: Annotated[ReadAmountAnswer, Field(description="the data files of the changed copy")]
    is_size_predicted: Annotated[
        bool,
        Field(
            description="whether rows were written in their new order to predict the size of files; otherwise"
            " they are taken to need as much space as now"
        ),
    ]
    difference_at_size: Annotated[
        float | None,
        Field(description="`difference` if the size of the copy had been known; null: nothing was seen"),
    ]
    filters: list[TriedFilterAnswer]


class TrialLinks(WireModel):
    """The trial's own address."""

    self: str


class TrialAnswer(WireModel):
    """A trial, as it is now."""

    trial_id: UUID
    table: str
    kind: AdviceKind
    state: TrialState
    requested_by: str
    requested_at: datetime
    ended_at: datetime | None
    snapshot_id: str | None
    is_dropped: Annotated[bool, Field(description="whether nothing of the copy is left")]
    report: TrialReportAnswer | None
    error: CommitError | None
    links: TrialLinks


class TrialsAnswer(WireModel):
    """The table's trials, the newest first."""

    may_request: Annotated[bool, Field(description="whether the caller may have advice tried here")]
    trials: list[TrialAnswer]


def trial_request(body: TrialBody, table: TableName) -> TrialRequest:
    """Returns what the body asks for."""
    return TrialRequest(table, AdviceKind(body.kind), body.days)


def trial_answer(trial: LayoutTrial) -> TrialAnswer:
    """Returns the trial as it is on the wire."""
    table = trial.request.table
    return TrialAnswer(
        trial_id=trial.trial_id,
        table=str(table),
        kind=trial.request.kind,
        state=trial.state,
        requested_by=trial.requested_by,
        requested_at=trial.requested_at,
        ended_at=trial.ended_at,
        snapshot_id=None if trial.snapshot_id is None else str(trial.snapshot_id),
        is_dropped=trial.is_dropped,
        report=None if trial.report is None else _report(trial.report),
        error=None
        if trial.error_code is None
        else CommitError(code=trial.error_code, detail=trial.error_detail or ""),
        links=TrialLinks(self=f"/advice/{table}/trials/{trial.trial_id}"),
    )


def _report(report: TrialReport) -> TrialReportAnswer:
    return TrialReportAnswer(
        columns=list(report.columns),
        transform=report.transform,
        file_bytes=report.file_bytes,
        scans=report.scan_count,
        **_amounts(report.amount),
        difference=_rounded(report.amount.difference),
        table_now=_read(report.table_now),
        table_predicted=_read(report.table_predicted),
        table_seen=_read(report.table_seen),
        is_size_predicted=report.is_size_predicted,
        difference_at_size=_rounded(report.difference_at_size),
        filters=[_filter(found) for found in report.filters],
    )


def _filter(found: TriedFilter) -> TriedFilterAnswer:
    return TriedFilterAnswer(
        columns=list(found.columns),
        scans=found.scan_count,
        **_amounts(found.amount),
        difference=_rounded(found.amount.difference),
    )


def _amounts(amount: TriedAmount) -> dict[str, ReadAmountAnswer]:
    return {
        "now": _read(amount.now),
        "predicted": _read(amount.predicted),
        "seen": _read(amount.seen),
    }


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 4)


def _read(amount: ReadAmount) -> ReadAmountAnswer:
    return ReadAmountAnswer(data_files=amount.file_count, bytes=amount.byte_count)
