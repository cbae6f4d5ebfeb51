"""Ingests that continue by themselves."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Query

from api.http.app_context import Caller, CallersAccess, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.requests.stream_request import stored_body
from api.http.routes.documented import problems
from api.http.schemas.streams import StreamAnswer, StreamBody, StreamList, stream_answer
from api.http.schemas.tables import NoQuery
from service.audited import note
from service.model.audit.events import Details
from service.model.ingest.streams import StreamState

router = APIRouter(tags=["streams"], route_class=StrictJsonRoute)


@router.post(
    "/streams",
    status_code=201,
    responses=problems(400, 403, 404, 408, 409, 413, 415, 422, 503),
    dependencies=[Depends(require_json)],
)
async def create_stream(
    body: StreamBody, app_context: CurrentAppContext, caller: Caller, access: CallersAccess
) -> StreamAnswer:
    """Starts a stream: reads what arrives in a folder or a topic, and writes it exactly once, until stopped.

    Each micro-batch is an ingest of its own, with one commit for each table. After a 5xx, or without an
    answer, send the request again with the same `requestId`: without one, there would be a second stream.
    """
    streams = app_context.access.gateway.streams
    asked = body.name, stored_body(body), caller, access, body.request_id
    record = await app_context.access.call(streams.create, *asked)
    note(Details(target=str(record.stream_id)))
    return stream_answer(record)


@router.get("/streams", responses=problems(422, 503))
async def list_streams(
    _: Annotated[NoQuery, Query()], app_context: CurrentAppContext, caller: Caller
) -> StreamList:
    """The caller's streams, the newest first, including stopped and failed ones."""
    found = await app_context.access.call(app_context.access.gateway.streams.list, caller)
    return StreamList(streams=[stream_answer(record) for record in found])


@router.get("/streams/{stream_id}", responses=problems(404, 422, 503))
async def get_stream(stream_id: UUID, app_context: CurrentAppContext, caller: Caller) -> StreamAnswer:
    """The stream, as it is now. A failed stream is a 200, too."""
    return stream_answer(
        await app_context.access.call(app_context.access.gateway.streams.find, stream_id, caller)
    )


@router.delete("/streams/{stream_id}", responses=problems(404, 422, 503))
async def stop_stream(stream_id: UUID, app_context: CurrentAppContext, caller: Caller) -> StreamAnswer:
    """Stops the stream within moments. Its progress is kept. Stopping it twice is fine."""
    note(Details(target=str(stream_id)))
    move = app_context.access.gateway.streams.move
    return stream_answer(await app_context.access.call(move, stream_id, StreamState.STOPPED, caller))


@router.post("/streams/{stream_id}/resume", responses=problems(404, 422, 503))
async def resume_stream(stream_id: UUID, app_context: CurrentAppContext, caller: Caller) -> StreamAnswer:
    """Lets a stopped or failed stream continue where it was."""
    note(Details(target=str(stream_id)))
    move = app_context.access.gateway.streams.move
    return stream_answer(await app_context.access.call(move, stream_id, StreamState.RUNNING, caller))
