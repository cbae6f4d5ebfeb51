"""What GET /explain/{id} says in JSON."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.schemas.query_answer import SelectionAnswer
from api.schemas.wire import WireModel
from service.model.explanation import Explanation
from service.model.pruning import ScanRecord, Selection
from service.model.query import QueryState


class ExplainedError(WireModel):
    """Why the query did not succeed."""

    code: str
    detail: str


class RowsRead(WireModel):
    """How many rows left the scan, of how many the table has."""

    total: int
    read: int


class ScanAnswer(WireModel):
    """One scan of one table at one snapshot, level by level."""

    table: str
    snapshot_id: Annotated[int | None, Field(description="null: the table is empty")]
    partitions: SelectionAnswer
    manifests: SelectionAnswer
    data_files: SelectionAnswer
    bytes: SelectionAnswer
    rows: RowsRead
    planning_ms: int


class Plans(WireModel):
    """The plans as the engine writes them."""

    spark: str


class Timings(WireModel):
    """Where the time went."""

    queued_ms: int
    plan_ms: int
    run_ms: int


class ExplanationAnswer(WireModel):
    """The SQL, the plans, and every scan as selected of total."""

    query_id: UUID
    sql: str
    state: QueryState
    error: ExplainedError | None
    scans: list[ScanAnswer]
    plans: Plans
    timings: Timings


def explanation_answer(explanation: Explanation) -> ExplanationAnswer:
    """The explanation in the wire's words."""
    error = explanation.error
    return ExplanationAnswer(
        query_id=explanation.query_id,
        sql=explanation.sql,
        state=explanation.state,
        error=ExplainedError(code=error.code, detail=error.detail) if error else None,
        scans=[_scan(each) for each in explanation.scans],
        plans=Plans(spark=explanation.spark_plan),
        timings=Timings(
            queued_ms=explanation.queued_ms,
            plan_ms=explanation.planning_ms,
            run_ms=explanation.running_ms,
        ),
    )


def _scan(scan: ScanRecord) -> ScanAnswer:
    metrics = scan.metrics
    return ScanAnswer(
        table=scan.table,
        snapshot_id=scan.snapshot_id,
        partitions=selection_answer(metrics.partitions),
        manifests=selection_answer(metrics.manifests),
        data_files=selection_answer(metrics.data_files),
        bytes=selection_answer(metrics.bytes),
        rows=RowsRead(total=metrics.rows.total, read=metrics.rows.selected),
        planning_ms=metrics.planning_ms,
    )


def selection_answer(selection: Selection) -> SelectionAnswer:
    """The selection in the wire's words."""
    return SelectionAnswer(total=selection.total, selected=selection.selected)
