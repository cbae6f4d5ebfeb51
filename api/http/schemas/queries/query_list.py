"""The query string and the answer of GET /query."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from api.http.schemas.queries.query_answer import LinksAnswer, QueueAnswer, queue_answer
from api.http.schemas.wire import StrictModel, WireModel
from service.model.query.history import QuerySummary
from service.model.query.progress import QueuePlace
from service.model.query.query import QueryState


class QueriesQuery(StrictModel):
    """The query string of GET /query."""

    state: Annotated[QueryState | None, Field(strict=False, description="only queries in this state")] = None
    principal: Annotated[
        str | None,
        Field(
            max_length=255,
            description="only this caller's; administrators by policies may name another one, or `*` for all",
        ),
    ] = None
    limit: Annotated[int, Field(strict=False, ge=1, le=1000, description="maximum number of queries")] = 50
    page_token: Annotated[
        str | None, Field(max_length=255, description="`nextPageToken` of the previous page")
    ] = None


class ListedQueryAnswer(WireModel):
    """One query. Times are in milliseconds."""

    query_id: UUID
    principal: Annotated[str, Field(description="the caller")]
    sql: Annotated[str, Field(description="the first 1,000 characters")]
    state: QueryState
    error_code: str | None
    submitted_at: datetime
    queue: Annotated[
        QueueAnswer | None,
        Field(
            description="where it waits; for the newest 100 that wait at the gateway that is asked, and for"
            " 100 of each other one, as it reported some seconds ago; else null"
        ),
    ]
    queued_ms: int
    elapsed_ms: int
    row_count: int
    tags: dict[str, str]
    links: LinksAnswer


class QueriesAnswer(WireModel):
    """The newest queries first."""

    queries: list[ListedQueryAnswer]
    next_page_token: Annotated[str | None, Field(description="null: there are no more")]


def listed_query(summary: QuerySummary, place: QueuePlace | None) -> ListedQueryAnswer:
    """Returns the query as it is on the wire."""
    path = f"/query/{summary.query_id}"
    return ListedQueryAnswer(
        query_id=summary.query_id,
        principal=summary.caller,
        sql=summary.sql,
        state=summary.state,
        error_code=summary.error_code,
        submitted_at=summary.submitted_at,
        queue=queue_answer(place),
        queued_ms=summary.queued_ms,
        elapsed_ms=summary.elapsed_ms,
        row_count=summary.row_count,
        tags=dict(summary.tags),
        links=LinksAnswer(self=path, explain=f"/explain/{summary.query_id}", cancel=path),
    )
