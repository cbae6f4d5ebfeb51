"""Records in, snapshots out."""

from __future__ import annotations

from uuid import UUID

import structlog
from fastapi import APIRouter, Depends, Request, Response

from api.edge import Caller, EdgeOfApp, gone, require_json
from api.ingest_request import ingest_request
from api.routes.documented import Responses, problems
from api.schemas.ingest_answer import IngestAnswer, ingest_answer
from api.schemas.ingest_request import IngestBody, IngestWait
from service.model.ingest import IngestRecord, IngestState

router = APIRouter(tags=["ingest"])

COMMIT_WAIT_S = 50.0
"""After so long an answer says ACCEPTED: the commit goes on."""

_ANSWERS: Responses = {
    200: {"model": IngestAnswer, "description": "All of it is in the tables, or will never be."},
    202: {"model": IngestAnswer, "description": "It is durable, and will be committed."},
}


@router.post(
    "/ingest",
    responses=_ANSWERS | problems(400, 403, 404, 409, 413, 415, 422, 503),
    response_model=IngestAnswer,
    dependencies=[Depends(require_json)],
)
async def send_records(body: IngestBody, edge: EdgeOfApp, caller: Caller, request: Request) -> Response:
    """Writes records into data files that hold the write schema's columns, and commits them once.

    A request that was refused (4xx) has written nothing. After a 5xx, or no answer, the same `requestId`
    tells what became of it, and never writes twice.
    """
    gateway = edge.door.gateway
    # Large bodies take their time here, and others wait for the event loop.
    asked = await edge.door.call(ingest_request, body, gateway.read_schema)
    accepted = await edge.door.call(gateway.ingest, asked, caller)
    structlog.contextvars.bind_contextvars(ingest_id=str(accepted.record.ingest_id))
    if body.wait is IngestWait.ACCEPTED or accepted.record.state is not IngestState.ACCEPTED:
        return _response(accepted.record)
    await edge.waiting.until_finished(accepted.settled, COMMIT_WAIT_S, lambda: gone(request))
    return _response(await edge.door.call(gateway.ingest_status, accepted.record.ingest_id, caller))


@router.get("/ingest/{ingest_id}", responses=_ANSWERS | problems(404, 422, 503), response_model=IngestAnswer)
async def get_ingest(ingest_id: UUID, edge: EdgeOfApp, caller: Caller) -> Response:
    """Where the ingest stands. A failed one is a 200, too."""
    structlog.contextvars.bind_contextvars(ingest_id=str(ingest_id))
    return _response(await edge.door.call(edge.door.gateway.ingest_status, ingest_id, caller))


def _response(record: IngestRecord) -> Response:
    status = 202 if record.state is IngestState.ACCEPTED else 200
    content = ingest_answer(record).model_dump_json(by_alias=True)
    return Response(content, status, media_type="application/json")
