"""The query string and the answer of GET /ingest."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.ingests.ingest_answer import IngestLinks
from api.http.schemas.wire import StrictModel, WireModel
from service.model.ingest.ingest import IngestRecord, IngestState


class IngestsQuery(StrictModel):
    """The query string of GET /ingest."""

    state: Annotated[IngestState | None, Field(strict=False, description="only ingests in this state")] = None
    limit: Annotated[int, Field(strict=False, ge=1, le=1000, description="maximum number of ingests")] = 50
    page_token: Annotated[
        str | None, Field(max_length=255, description="`nextPageToken` of the previous page")
    ] = None


class ListedIngestAnswer(WireModel):
    """One ingest."""

    ingest_id: UUID
    request_id: UUID | None
    state: IngestState
    accepted_at: datetime
    tables: list[str]
    records: Annotated[int, Field(description="rows that were written, and keys that were only deleted")]
    write_ms: int
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
        links=IngestLinks(self=f"/ingest/{record.ingest_id}"),
    )
