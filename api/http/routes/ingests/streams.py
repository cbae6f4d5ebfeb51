"""Ingests that continue by themselves."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Response

from api.http.app_context import Caller, CallersAccess, CallingPrincipal, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.requests.stream_request import stored_body
from api.http.routes.documented import Responses, problems
from api.http.schemas.ingests.streams import StreamAnswer, StreamBody, StreamList, StreamsQuery, stream_answer
from service.audited import note
from service.errors.source_errors import StreamNotFound
from service.model.audit.events import Details
from service.policies.require import administers

router = APIRouter(tags=["streams"], route_class=StrictJsonRoute)
EVERYONE = "*"
_STOPPED: Responses = {204: {"description": "Another caller's stream is stopped."}}


@router.post(
    "/streams",
    status_code=201,
    responses=problems(400, 403, 404, 408, 409, 413, 415, 422, 503),
    dependencies=[Depends(require_json)],
)
async def create_stream(
    body: StreamBody, app_context: CurrentAppContext, principal: CallingPrincipal, access: CallersAccess
) -> StreamAnswer:
    """Starts a stream: reads what arrives in a folder or a topic, and writes it exactly once, until stopped.

    Each micro-batch is an ingest of its own, with one commit for each table. After a 5xx, or without an
    answer, send the request again with the same `requestId`: without one, there would be a second stream.
    The stream ends if policies no longer let its creator write, with the roles that it has now.
    """
    streams = app_context.access.gateway.streams
    asked = body.name, stored_body(body), principal, access, body.request_id
    record = await app_context.access.call(streams.create, *asked)
    note(Details(target=str(record.stream_id)))
    return stream_answer(record, streams.lag_of(record.stream_id))


@router.get("/streams", responses=problems(422, 503))
async def list_streams(
    query: Annotated[StreamsQuery, Query()],
    app_context: CurrentAppContext,
    caller: Caller,
    access: CallersAccess,
) -> StreamList:
    """The caller's streams, the newest first, including stopped and failed ones.

    Who administers all tables by policies may name another `principal`, or `*` for the streams of all.
    """
    listed = query.principal or caller
    if listed != caller and not administers(access):
        return StreamList(streams=[])
    streams = app_context.access.gateway.streams
    found = await app_context.access.call(streams.list, None if listed == EVERYONE else listed)
    return StreamList(streams=[stream_answer(record, streams.lag_of(record.stream_id)) for record in found])


@router.get("/streams/{stream_id}", responses=problems(404, 422, 503))
async def get_stream(stream_id: UUID, app_context: CurrentAppContext, caller: Caller) -> StreamAnswer:
    """The stream, as it is now. A failed stream is a 200, too."""
    streams = app_context.access.gateway.streams
    record = await app_context.access.call(streams.find, stream_id, caller)
    return stream_answer(record, streams.lag_of(stream_id))


@router.delete(
    "/streams/{stream_id}", responses=_STOPPED | problems(404, 422, 503), response_model=StreamAnswer
)
async def stop_stream(
    stream_id: UUID, app_context: CurrentAppContext, caller: Caller, access: CallersAccess
) -> Response:
    """Stops the stream within moments. Its progress is kept. Stopping it twice is fine.

    Who administers all tables by policies may stop any stream, and gets no answer about another caller's.
    """
    note(Details(target=str(stream_id)))
    streams = app_context.access.gateway.streams
    try:
        stopped = await app_context.access.call(streams.stop, stream_id, caller)
    except StreamNotFound:
        if not administers(access):
            raise
        await app_context.access.call(streams.stop_any, stream_id)
        return Response(status_code=204)
    content = stream_answer(stopped, None).model_dump_json(by_alias=True)
    return Response(content, media_type="application/json")


@router.post("/streams/{stream_id}/resume", responses=problems(403, 404, 422, 503))
async def resume_stream(
    stream_id: UUID, app_context: CurrentAppContext, principal: CallingPrincipal, access: CallersAccess
) -> StreamAnswer:
    """Lets a stopped or failed stream continue where it was, with the roles that its creator has now."""
    note(Details(target=str(stream_id)))
    streams = app_context.access.gateway.streams
    record = await app_context.access.call(streams.resume, stream_id, principal, access)
    return stream_answer(record, streams.lag_of(stream_id))
