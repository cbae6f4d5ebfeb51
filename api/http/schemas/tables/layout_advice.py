"""The query string and the answer of GET /advice/{name}."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from api.http.schemas.wire import StrictModel, WireModel
from service.model.query.layout_advice import (
    AdviceKind,
    FilteredColumn,
    LayoutAdvice,
    ReadAmount,
    RecordedWorkload,
    TableAdvice,
)


class AdviceQuery(StrictModel):
    """The query string of GET /advice/{name}."""

    days: Annotated[
        int | None,
        Field(
            strict=False,
            ge=1,
            le=3650,
            description="scans of so many days; at most, and unset: the operator's",
        ),
    ] = None


class ReadAmountAnswer(WireModel):
    """The files and bytes that scans read together."""

    data_files: int
    bytes: int


class FilteredColumnAnswer(WireModel):
    """A column that recorded scans were filtered by."""

    column: str
    scans: int
    equality_scans: Annotated[int, Field(description="those of them that looked for single values")]


class WorkloadAnswer(WireModel):
    """The recorded scans that the advice is for."""

    since: datetime
    scans: int
    unexplained_scans: Annotated[
        int, Field(description="scans that are left out: how they were pruned was not recorded")
    ]
    recorded: Annotated[ReadAmountAnswer, Field(description="what the scans read when they ran")]
    simulated: Annotated[ReadAmountAnswer, Field(description="what they would read of the files of now")]
    columns: list[FilteredColumnAnswer]


class LayoutAdviceAnswer(WireModel):
    """One change of the layout."""

    kind: AdviceKind
    reason: str
    columns: list[str]
    transform: Annotated[str | None, Field(description="of the partition field")]
    file_bytes: Annotated[int | None, Field(description="the size that files get")]
    before: Annotated[ReadAmountAnswer, Field(description="simulated on the files of now")]
    after: Annotated[
        ReadAmountAnswer, Field(description="predicted; with bloom filters, the bytes of row groups")
    ]
    is_size_predicted: Annotated[
        bool,
        Field(
            description="whether `after` knows how well rows compress after the change; otherwise they are"
            " taken to need as much space as now"
        ),
    ]
    saved_bytes: int
    saved_share: Annotated[float, Field(description="of the bytes before, at most 1")]
    statements: Annotated[list[str], Field(description="Spark SQL that makes the change, in this order")]


class AdviceAnswer(WireModel):
    """Advice for one table, what saves most first."""

    table: str
    snapshot_id: Annotated[str | None, Field(description="the snapshot whose files were looked at")]
    data_files: int
    bytes: int
    sampled_rows: int
    workload: WorkloadAnswer
    advice: list[LayoutAdviceAnswer]
    notes: Annotated[list[str], Field(description="whatever was left out, with the reason")]


def advice_answer(found: TableAdvice) -> AdviceAnswer:
    """Returns the advice as it is on the wire."""
    return AdviceAnswer(
        table=str(found.table),
        snapshot_id=None if found.snapshot_id is None else str(found.snapshot_id),
        data_files=found.file_count,
        bytes=found.byte_count,
        sampled_rows=found.sampled_rows,
        workload=_workload(found.workload, found.simulated),
        advice=[_advice(advice) for advice in found.advice],
        notes=list(found.notes),
    )


def _workload(workload: RecordedWorkload, simulated: ReadAmount) -> WorkloadAnswer:
    return WorkloadAnswer(
        since=workload.since,
        scans=workload.scan_count,
        unexplained_scans=workload.unexplained_count,
        recorded=_read(workload.recorded),
        simulated=_read(simulated),
        columns=[_column(column) for column in workload.filtered_columns],
    )


def _advice(advice: LayoutAdvice) -> LayoutAdviceAnswer:
    return LayoutAdviceAnswer(
        kind=advice.kind,
        reason=advice.reason,
        columns=list(advice.columns),
        transform=advice.transform,
        file_bytes=advice.file_bytes,
        before=_read(advice.before),
        after=_read(advice.after),
        is_size_predicted=advice.is_size_predicted,
        saved_bytes=advice.saved_bytes,
        saved_share=round(advice.saved_share, 4),
        statements=list(advice.statements),
    )


def _column(column: FilteredColumn) -> FilteredColumnAnswer:
    return FilteredColumnAnswer(
        column=column.column, scans=column.scan_count, equality_scans=column.equality_count
    )


def _read(amount: ReadAmount) -> ReadAmountAnswer:
    return ReadAmountAnswer(data_files=amount.file_count, bytes=amount.byte_count)
