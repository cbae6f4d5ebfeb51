"""The JSON answer of GET /explain/{id}."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from api.http.rendering.plan_texts import plan_texts
from api.http.schemas.queries.explained_filter import FilterAnswer, filter_answer
from api.http.schemas.queries.progress import ProgressAnswer, progress_answer
from api.http.schemas.queries.query_answer import ReusedAnswer, SelectionAnswer, reused_answer
from api.http.schemas.wire import WireModel
from service.model.query.explanation import Explanation
from service.model.query.query import QueryState
from service.model.query.rewrites import RewriteKind
from service.model.query.scan_metrics import ScanRecord, Selection
from service.model.query.verification import Verification


class ExplainedError(WireModel):
    """Why the query did not succeed."""

    code: str
    detail: str


class RowsRead(WireModel):
    """How many rows the scan returned, and how many the table has."""

    total: int
    read: Annotated[int | None, Field(description="null: the query was only planned")]


class ScanAnswer(WireModel):
    """One scan of one table at one snapshot, level by level."""

    table: str
    snapshot_id: Annotated[int | None, Field(description="null: the table is empty, or has no snapshots")]
    partitions: SelectionAnswer
    manifests: SelectionAnswer
    data_files: SelectionAnswer
    data_files_left_out: Annotated[
        int,
        Field(
            description="files that are not selected only because readers had noted before that the same"
            " filter selects none of their row groups"
        ),
    ]
    bytes: SelectionAnswer
    row_groups: Annotated[
        SelectionAnswer | None,
        Field(
            description="those of Parquet files, as readers selected them by statistics, dictionaries and"
            " bloom filters; null: it is not known of all files, or the query was only planned"
        ),
    ]
    rows: RowsRead
    planning_ms: int
    has_run: Annotated[
        bool,
        Field(
            description="false: the scan was skipped, or planned and then not needed; it read nothing."
            " If the query was only planned: false if the scan is skipped"
        ),
    ]
    native: Annotated[
        bool | None,
        Field(description="Spark pruned it by its own keys while it ran; null: it was only planned"),
    ]
    columns: Annotated[
        list[str],
        Field(description="the columns that it reads, 200 at most; empty: none, or it was skipped"),
    ]


class RewriteAnswer(WireModel):
    """One change of the text besides its filters, under its name in the setting `SLUICE_REWRITES`."""

    rewrite: RewriteKind
    table: Annotated[str | None, Field(description="null: the rewrite is not of one table")]
    detail: str
    table_reference: Annotated[
        int | None,
        Field(description="number of the table reference, counted as a filter's `probe.tableReference`"),
    ]
    filter_id: Annotated[str | None, Field(description="the filter that replaces the eliminated join")]


class Plans(WireModel):
    """The query as sent, with its filters, and with repeated parts made once; then the engine's own plans."""

    ast: str
    optimized_physical: str
    execution: str
    spark: str


class Timings(WireModel):
    """The time of each stage. Stages follow one another, and add up to the time from submission to end."""

    queued_ms: int
    parse_ms: int
    detect_ms: int
    filters_ms: int
    plan_ms: int
    run_ms: int


_PLACE = "for names without a {}; null: there is none"


class ExplanationAnswer(WireModel):
    """The SQL, every candidate filter, the plans, and every scan as selected of total."""

    query_id: Annotated[UUID | None, Field(description="null: the query was only planned")]
    sql: str
    catalog: Annotated[str | None, Field(description=_PLACE.format("catalog"))]
    schema_: Annotated[str | None, Field(alias="schema", description=_PLACE.format("schema"))]
    rewritten_sql: Annotated[str | None, Field(description="null: the query ran as written")]
    state: QueryState | Literal["PLANNED"]
    error: ExplainedError | None
    filters: list[FilterAnswer]
    rewrites: list[RewriteAnswer]
    verification: Annotated[
        Verification | None,
        Field(description="null: it was not requested, or the query did not get that far"),
    ]
    scans: list[ScanAnswer]
    plans: Plans
    timings: Timings
    reused: Annotated[
        ReusedAnswer | None,
        Field(description="the earlier query that read what this result has; null: this one ran"),
    ]
    trace_id: Annotated[
        str | None, Field(description="trace of the request that sent the query; null: not traced")
    ]
    progress: Annotated[
        ProgressAnswer | None,
        Field(description="null unless the query runs; at another replica, as that one reported it last"),
    ]


def explanation_answer(explanation: Explanation) -> ExplanationAnswer:
    """Returns the explanation as it is on the wire."""
    error = explanation.error
    return ExplanationAnswer(
        query_id=explanation.query_id,
        sql=explanation.sql,
        catalog=explanation.catalog,
        schema_=explanation.schema,
        state=explanation.state,
        error=ExplainedError(code=error.code, detail=error.detail) if error else None,
        rewritten_sql=explanation.rewritten_sql,
        filters=[filter_answer(filter_record) for filter_record in explanation.filters],
        rewrites=[
            RewriteAnswer(
                rewrite=rewrite.kind,
                table=rewrite.table or None,
                detail=rewrite.detail,
                table_reference=rewrite.table_reference,
                filter_id=rewrite.filter_id or None,
            )
            for rewrite in explanation.rewrites
        ],
        verification=explanation.verification,
        scans=[_scan(scan, explanation.has_run) for scan in explanation.scans],
        plans=_plans(explanation),
        timings=timings(explanation),
        reused=reused_answer(explanation.reused),
        trace_id=explanation.trace_id,
        progress=None if explanation.progress is None else progress_answer(explanation.progress),
    )


def _plans(explanation: Explanation) -> Plans:
    texts = plan_texts(explanation.plans)
    return Plans(
        ast=texts.abstract_syntax_tree,
        optimized_physical=texts.optimized_physical,
        execution=texts.optimized_execution,
        spark=explanation.spark_plan,
    )


def timings(explanation: Explanation) -> Timings:
    """Returns the times of a query's stages, in their order."""
    pruning_ms = explanation.parse_ms + explanation.detect_ms + explanation.filters_ms
    return Timings(
        queued_ms=explanation.queued_ms,
        parse_ms=explanation.parse_ms,
        detect_ms=explanation.detect_ms,
        filters_ms=explanation.filters_ms,
        plan_ms=max(explanation.planning_ms - pruning_ms, 0),
        run_ms=explanation.running_ms,
    )


def _scan(scan: ScanRecord, has_run: bool) -> ScanAnswer:
    metrics = scan.metrics
    return ScanAnswer(
        table=scan.table,
        snapshot_id=scan.snapshot_id,
        partitions=selection_answer(metrics.partitions),
        manifests=selection_answer(metrics.manifests),
        data_files=selection_answer(metrics.data_files),
        data_files_left_out=scan.files_left_out,
        bytes=selection_answer(metrics.bytes),
        row_groups=None if metrics.row_groups is None else selection_answer(metrics.row_groups),
        rows=RowsRead(total=metrics.rows.total, read=metrics.rows.selected if has_run else None),
        planning_ms=metrics.planning_ms,
        has_run=scan.has_run,
        native=scan.is_native,
        columns=list(scan.columns),
    )


def selection_answer(selection: Selection) -> SelectionAnswer:
    """Returns the selection as it is on the wire."""
    return SelectionAnswer(total=selection.total, selected=selection.selected)
