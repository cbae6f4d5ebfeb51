"""A query's state and progress as server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated
from uuid import UUID

import structlog
from fastapi import APIRouter, Header, Query, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from api.bootstrap.settings import Settings
from api.http.answers.negotiation import choose
from api.http.app_context import AppContext, Caller, CurrentAppContext
from api.http.events.event_text import MEDIA_TYPE
from api.http.events.query_events import END, EventPace, QueryEvents, first_number
from api.http.lane import stays
from api.http.routes.documented import Responses, problems, success
from api.http.schemas.tables.table_schemas import NoQuery
from service.gateway import Gateway

router = APIRouter(tags=["query"])

_HEADERS = {
    # A proxy that collects answers would hold events back.
    "X-Accel-Buffering": "no"
}
_EVENT = {
    "type": "object",
    "description": "One event. `data` is JSON: the status, the progress, or the whole answer without rows.",
    "required": ["id", "event", "data"],
    "properties": {
        "id": {"type": "string"},
        "event": {"enum": ["state", "progress", "done"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
_EVENTS: Responses = success(
    {
        "description": "Events `state` and `progress` as they happen. The last one is `done`, with the final"
        " status. Comments in between keep the connection open.",
        "content": {MEDIA_TYPE: {"schema": _EVENT}},
    }
)
_NOTHING_LEFT: Responses = {
    204: {"description": "Last-Event-ID is that of `done`: a client that follows the standard stops."}
}


@router.get(
    "/query/{query_id}/events",
    responses=_EVENTS | _NOTHING_LEFT | problems(404, 406, 422, 429, 503),
    response_class=StreamingResponse,
)
async def follow_query(
    query_id: UUID,
    _: Annotated[NoQuery, Query()],
    app_context: CurrentAppContext,
    caller: Caller,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
    last_event_id: Annotated[str | None, Header(description="the `id` of the last event received")] = None,
) -> Response:
    """The query's state and progress as server-sent events, until it has ended.

    A client that connects again gets the state of that moment, not the events that it missed. The stream also
    ends when the gateway stops, and after `event_stream_max_s`: connect again. The progress of a query of
    another replica is what that one reported last.
    """
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    choose(accept, [MEDIA_TYPE])
    # The stream goes on with this gateway while it stops, so that it gets the end of its query.
    gateway = app_context.access.gateway
    first = await app_context.access.call(gateway.queries.status, query_id, caller)
    if last_event_id == END and first.record.state.is_final:
        return Response(status_code=204)
    events = QueryEvents(
        read=lambda: app_context.access.call(gateway.queries.status, query_id, caller),
        wait=lambda seconds: _wait(app_context, gateway, query_id, seconds),
        pace=_pace(app_context.settings),
        number=first_number(last_event_id),
    )
    return _opened(app_context, caller, events.parts(first))


class EventStream(StreamingResponse):
    """An answer that calls `closed` when it ends, however it ends."""

    def __init__(self, parts: AsyncIterator[bytes], closed: Callable[[], None]) -> None:
        super().__init__(parts, headers=_HEADERS, media_type=MEDIA_TYPE)
        self._closed = closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the answer until it ends, or its client is gone."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._closed()


def _opened(app_context: AppContext, caller: str, parts: AsyncIterator[bytes]) -> EventStream:
    app_context.event_streams.open(caller)
    return EventStream(parts, lambda: app_context.event_streams.close(caller))


async def _wait(app_context: AppContext, gateway: Gateway, query_id: UUID, seconds: float) -> None:
    finished = gateway.queries.finished(query_id)
    if finished.done():
        # The record of a query that ended elsewhere follows its end.
        await asyncio.sleep(seconds)
    else:
        await app_context.waiting.until_finished(finished, seconds, stays)


def _pace(settings: Settings) -> EventPace:
    return EventPace(
        interval_s=settings.event_interval_s,
        heartbeat_s=settings.event_heartbeat_s,
        max_s=settings.event_stream_max_s,
    )
