"""Queries that were sent, the newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sluice_client.calls import Flow, Request
from sluice_client.json_fields import Fields, fields_of
from sluice_client.query.live import Live, live_of
from sluice_client.query.queue_place import QueuePlace, queue_place_of
from sluice_client.retries import Context, retried


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedQuery:
    """A query, as the list has it. Times are in milliseconds."""

    query_id: UUID
    principal: str
    sql: str
    state: str
    error_code: str | None
    queued_ms: int
    elapsed_ms: int
    live: Live
    queue: QueuePlace | None
    raw: dict[str, Any]


def list_queries(
    context: Context, *, state: str | None = None, principal: str | None = None, limit: int = 50
) -> Flow[tuple[ListedQuery, ...]]:
    """Returns the caller's own queries, or those of `principal` for who may see them."""
    asked = {"state": state, "principal": principal, "limit": str(limit)}
    request = Request(
        method="GET",
        path="/query",
        parameters={name: value for name, value in asked.items() if value is not None},
        max_bytes=context.bounds.max_answer_bytes,
    )
    fields = fields_of((yield from retried(request, context)))
    return tuple(map(_query, fields.objects("queries")))


def _query(fields: Fields) -> ListedQuery:
    return ListedQuery(
        query_id=fields.uuid("queryId"),
        principal=fields.text("principal"),
        sql=fields.text("sql"),
        state=fields.text("state"),
        error_code=fields.optional_text("errorCode"),
        queued_ms=fields.integer("queuedMs"),
        elapsed_ms=fields.integer("elapsedMs"),
        live=live_of(fields.raw()),
        queue=queue_place_of(fields.raw()),
        raw=dict(fields.raw()),
    )
