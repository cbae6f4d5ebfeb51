"""The query string and the answer of GET /ingest."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.ingests.ingest_answer import IngestLinks
from api.http.schemas.wire import StrictModel, WireModel
from service.model.ingest.ingest import IngestCommit, IngestRecord, IngestState, WrittenTarget


class IngestsQuery(StrictModel):
    """The query string of GET /ingest."""

    state: Annotated[IngestState | None, Field(strict=False, description="only ingests in this state")] = None
    limit: Annotated[int, Field(strict=False, ge=1, le=1000, description="maximum number of ingests")] = 50
    page_token: Annotated[
        str | None, Field(max_length=255, description="`nextPageToken` of the previous page")
    ] = None


class ListedWriteAnswer(WireModel):
    """The part of an ingest for one table and branch under one write schema."""

    table: str
    branch: str
    state: Annotated[IngestState, Field(description="that of the table and branch")]
    write_schema_column_ids: Annotated[
        list[int] | None, Field(description="field ids in their order; null: the whole table schema")
    ]
    records: Annotated[int, Field(description="rows that were written, and keys that were only deleted")]
    data_files: int


class ListedIngestAnswer(WireModel):
    """One ingest."""

    ingest_id: UUID
    request_id: UUID | None
    state: IngestState
    accepted_at: datetime
    tables: list[str]
    records: Annotated[int, Field(description="rows that were written, and keys that were only deleted")]
    write_ms: int
    writes: Annotated[list[ListedWriteAnswer], Field(description="by table, branch and write schema")]
    rejected_records: Annotated[int, Field(description="sent to the dead letters, which `records` has, too")]
    links: IngestLinks


class IngestsAnswer(WireModel):
    """The newest ingests first."""

    ingests: list[ListedIngestAnswer]
    next_page_token: Annotated[str | None, Field(description="null: there are no more")]


def listed_ingest(record: IngestRecord) -> ListedIngestAnswer:
    """Returns the ingest as it is on the wire."""
    return ListedIngestAnswer(
        ingest_id=record.ingest_id,
        request_id=record.request_id,
        state=record.state,
        accepted_at=record.accepted_at,
        tables=list(dict.fromkeys(str(commit.key.table) for commit in record.commits)),
        records=sum(target.change_count for commit in record.commits for target in commit.targets),
        write_ms=record.write_ms,
        writes=[_listed_write(commit, target) for commit in record.commits for target in commit.targets],
        rejected_records=record.rejected.count,
        links=IngestLinks(self=f"/ingest/{record.ingest_id}"),
    )


def _listed_write(commit: IngestCommit, target: WrittenTarget) -> ListedWriteAnswer:
    return ListedWriteAnswer(
        table=str(commit.key.table),
        branch=commit.key.branch,
        state=_state(commit),
        write_schema_column_ids=None if target.column_ids is None else list(target.column_ids),
        records=target.change_count,
        data_files=target.data_file_count,
    )


def _state(commit: IngestCommit) -> IngestState:
    if commit.error_code is not None:
        return IngestState.FAILED
    return IngestState.ACCEPTED if commit.snapshot_id is None else IngestState.COMMITTED
