"""The query string and the answer of GET /ingest/summary."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from api.http.schemas.sent_moments import Moment
from api.http.schemas.wire import StrictModel, WireModel
from service.model.ingest.ingest_history import IngestSummary, Spread, TableIngests


class IngestSummaryQuery(StrictModel):
    """The query string of GET /ingest/summary."""

    since: Annotated[
        Moment | None,
        Field(strict=False, description="ingests accepted from then on; unset: those of the last 24 hours"),
    ] = None
    table: Annotated[
        str | None, Field(max_length=1024, description="only this table: catalog.schema.table")
    ] = None


class SpreadAnswer(WireModel):
    """Milliseconds. Half of the values are at most `p50`."""

    p50: int
    p95: int
    max: int


class RoundsAnswer(WireModel):
    """The commit rounds that created a snapshot, of all branches."""

    total: int
    ingests_per_round: Annotated[float, Field(description="the mean")]
    most_ingests: Annotated[int, Field(description="the most in one round")]
    write_targets_per_round: Annotated[float, Field(description="the mean")]
    commit_ms: SpreadAnswer


class TableIngestsAnswer(WireModel):
    """One table, over all ingests of all callers."""

    table: str
    ingests: Annotated[int, Field(description="accepted ingests")]
    waiting: Annotated[int, Field(description="of these, those that wait for their commit")]
    failed_by_code: Annotated[dict[str, int], Field(description="of these, those that failed, by error code")]
    records: Annotated[int, Field(description="rows that were written, and keys that were only deleted")]
    rejected_records: Annotated[
        int, Field(description="sent to the dead letters, whose table counts them among its own records")
    ]
    data_files: Annotated[int, Field(description="without the delete files of upserts; so is `bytes`")]
    bytes: int
    write_ms: Annotated[
        SpreadAnswer, Field(description="from the start of a request until its files were written")
    ]
    rounds: RoundsAnswer


class IngestSummaryAnswer(WireModel):
    """Every table that was written to, in order of name."""

    since: datetime
    tables: list[TableIngestsAnswer]


def ingest_summary_answer(summary: IngestSummary) -> IngestSummaryAnswer:
    """Returns the summary as it is on the wire."""
    return IngestSummaryAnswer(since=summary.since, tables=[_table(table) for table in summary.tables])


def _table(ingests: TableIngests) -> TableIngestsAnswer:
    return TableIngestsAnswer(
        table=ingests.table,
        ingests=ingests.ingest_count,
        waiting=ingests.waiting_count,
        failed_by_code=dict(ingests.failed_by_code),
        records=ingests.record_count,
        rejected_records=ingests.rejected_record_count,
        data_files=ingests.data_file_count,
        bytes=ingests.byte_count,
        write_ms=_spread(ingests.write_ms),
        rounds=RoundsAnswer(
            total=ingests.round_count,
            ingests_per_round=round(ingests.ingests_per_round, 2),
            most_ingests=ingests.most_ingests_of_a_round,
            write_targets_per_round=round(ingests.targets_per_round, 2),
            commit_ms=_spread(ingests.commit_ms),
        ),
    )


def _spread(spread: Spread) -> SpreadAnswer:
    return SpreadAnswer(p50=spread.p50, p95=spread.p95, max=spread.maximum)
