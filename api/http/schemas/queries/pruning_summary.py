"""The query string and the answer of GET /pruning/summary."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from api.http.schemas.queries.explanation import selection_answer
from api.http.schemas.queries.query_answer import SelectionAnswer
from api.http.schemas.sent_moments import Moment
from api.http.schemas.wire import StrictModel, WireModel
from service.model.filters.filter_record import Reason
from service.model.filters.key_set import FilterSource
from service.model.query.history import PruningSummary, TablePruning


class PruningSummaryQuery(StrictModel):
    """The query string of GET /pruning/summary."""

    since: Annotated[
        Moment | None,
        Field(strict=False, description="queries submitted from then on; unset: those of the last 24 hours"),
    ] = None
    table: Annotated[
        str | None, Field(max_length=1024, description="only this table: catalog.schema.table")
    ] = None


class FilterCounts(WireModel):
    """How many filters could have pruned scans of the table, and what became of them.

    A query that read the table and had no candidate on it counts as one, with its reason.
    """

    total: int
    applied: int
    by_reason: dict[Reason, int]
    by_source: dict[FilterSource, int]
    collect_ms: Annotated[int, Field(description="total time to collect their keys")]


class TablePruningAnswer(WireModel):
    """One table, over all queries of all callers."""

    table: str
    queries: Annotated[int, Field(description="queries that scanned the table")]
    scans: int
    data_files: SelectionAnswer
    bytes: SelectionAnswer
    filters: FilterCounts


class PruningSummaryAnswer(WireModel):
    """Every table that was scanned or could have been pruned, in order of name."""

    since: datetime
    tables: list[TablePruningAnswer]


def pruning_summary_answer(summary: PruningSummary) -> PruningSummaryAnswer:
    """Returns the summary as it is on the wire."""
    tables = [table_pruning_answer(table) for table in summary.tables]
    return PruningSummaryAnswer(since=summary.since, tables=tables)


def table_pruning_answer(pruning: TablePruning) -> TablePruningAnswer:
    """Returns the scans of one table as they are on the wire."""
    return TablePruningAnswer(
        table=pruning.table,
        queries=pruning.query_count,
        scans=pruning.scan_count,
        data_files=selection_answer(pruning.data_files),
        bytes=selection_answer(pruning.bytes),
        filters=FilterCounts(
            total=sum(pruning.filters_by_reason.values()),
            applied=pruning.applied_count,
            by_reason=dict(pruning.filters_by_reason),
            by_source=dict(pruning.filters_by_source),
            collect_ms=pruning.collection_ms,
        ),
    )
