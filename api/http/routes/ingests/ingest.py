"""The routes of POST /ingest and GET /ingest/{id}."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any
from uuid import UUID

import structlog
from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from api.http.answers.access_fields import note_ingest
from api.http.app_context import (
    AppContext,
    Caller,
    CallersAccess,
    CurrentAppContext,
    access_of,
    app_context_of,
    caller_of,
    gone,
    is_json,
    media_type,
)
from api.http.bodies.json_request import LARGE_BYTES, JsonRequest
from api.http.bodies.quick_body import quick_body, quick_request
from api.http.bodies.record_types import RECORD_TYPES, check_charset, compression, record_format
from api.http.bodies.records_route import RecordsRoute
from api.http.bodies.spooled_body import spooled_body
from api.http.problems.http_errors import UnsupportedMediaType
from api.http.problems.problems import failed_ingest_response
from api.http.requests.ingest_query import ingest_query
from api.http.requests.ingest_request import ingest_request, parameters, streamed_records, streamed_request
from api.http.routes.documented import Responses, problems
from api.http.routes.ingests.ingest_openapi import BODIES
from api.http.routes.ingests.ingest_wait import settled_within
from api.http.schemas.ingests.ingest_answer import IngestAnswer, ingest_answer
from api.http.schemas.ingests.ingest_request import IngestBody, IngestWait
from api.http.schemas.ingests.ingest_status import IngestStatusQuery
from service.errors.gateway_error import GatewayError
from service.ingest.ingest_service import Accepted, IngestService
from service.model.ingest.ingest import IngestRecord, IngestState
from service.tracing import step


async def require_known_type(request: Request) -> None:
    """Raises UnsupportedMediaType unless the body is JSON: bodies of records go to the other route."""
    if not is_json(request):
        taken = ", ".join(("application/json", *RECORD_TYPES))
        raise UnsupportedMediaType(f"The body's content type is not supported. Send one of {taken}.")


class QuickFirst(APIRoute):
    """Takes bodies without parsing their records, where possible; all others go the usual way."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Returns the handler of a request."""
        usual = super().get_route_handler()

        async def handle(request: Request) -> Response:
            exact = JsonRequest(request.scope, request.receive)
            quick = await _quickly(exact)
            return await usual(exact) if quick is None else quick

        return handle


router = APIRouter(tags=["ingest"])
json_router = APIRouter(tags=["ingest"], route_class=QuickFirst)
records_router = APIRouter(route_class=RecordsRoute)

_log = structlog.stdlib.get_logger("api.ingest")

COMMIT_WAIT_S = 50.0
"""Afterwards the answer says ACCEPTED, and the commit goes on."""

_ANSWERS: Responses = {
    200: {"model": IngestAnswer, "description": "All of it is in the tables."},
    202: {"model": IngestAnswer, "description": "It is durable, and will be committed."},
}

_FOUND: Responses = _ANSWERS | {
    200: {"model": IngestAnswer, "description": "Every part is in its table, or has failed."}
}


@records_router.post("/ingest", include_in_schema=False)
async def send_body(
    app_context: CurrentAppContext, caller: Caller, access: CallersAccess, request: Request
) -> Response:
    """The same for a body that is records alone: it is read from the disk, and never whole in memory."""
    asked = ingest_query(request.query_params)
    check_charset(request.scope)
    kind, packed = record_format(request.scope), compression(request.scope)
    assert kind is not None
    gateway = app_context.access.gateway
    # Only a caller who sends a requestId can send the same request again.
    prefix = parameters(asked) + f"{kind}/{packed}".encode() if asked.request_id else None
    spool = gateway.ingests.new_spool()
    async with spooled_body(request, spool, prefix, app_context.access.call) as body:
        wanted = await app_context.access.call(
            streamed_request, asked, body.digest, gateway.ingests.read_schema
        )
        wanted = streamed_records(wanted, spool.open, kind, packed)
        accepted = await app_context.access.call_long(
            lambda is_canceled: gateway.ingests.accept(wanted, caller, access, is_canceled),
            lambda: gone(request),
        )
    return await _answered(app_context, gateway.ingests, caller, request, accepted, asked.wait)


@json_router.post(
    "/ingest",
    responses=_ANSWERS | problems(400, 403, 404, 408, 409, 413, 415, 422, 429, 503),
    response_model=IngestAnswer,
    dependencies=[Depends(require_known_type)],
    openapi_extra=BODIES,
)
async def send_records(
    body: IngestBody,
    app_context: CurrentAppContext,
    caller: Caller,
    access: CallersAccess,
    request: Request,
) -> Response:
    """Writes records into data files that hold the write schema's columns, and commits them exactly once.

    A rejected request (4xx) has written nothing, unless the problem has an `ingestId`. Then the ingest was
    accepted, and `GET /ingest/{id}` shows the state of each table. If the problem also has `commits`, send
    only the parts with an `error` again, under a new `requestId`. After a 5xx, or without an answer, send the
    request again with the same `requestId`: nothing is written twice.

    Large input is a body of records alone: NDJSON, CSV, an Arrow stream or Parquet. The query string then has
    the other fields of a JSON body.
    """
    gateway = app_context.access.gateway
    # Large bodies take time here, and must not hold up the event loop.
    asked = await app_context.access.call(ingest_request, body, gateway.ingests.read_schema)
    if asked.executed is None:
        accepted = await app_context.access.call(gateway.ingests.accept, asked, caller, access)
    else:
        accepted = await app_context.access.call_long(
            lambda is_canceled: gateway.ingests.accept(asked, caller, access, is_canceled),
            lambda: gone(request),
        )
    return await _answered(app_context, gateway.ingests, caller, request, accepted, body.wait)


async def _quickly(request: Request) -> Response | None:
    if media_type(request) != "application/json":
        return None
    try:
        data = await request.body()
    except ClientDisconnect:
        return None
    app_context, caller = await app_context_of(request), await caller_of(request)
    access = await access_of(request)
    quick = quick_body(data) if len(data) <= LARGE_BYTES else await app_context.access.read(quick_body, data)
    if quick is None:
        return None
    ingests = app_context.access.gateway.ingests
    accepted = await app_context.access.call(
        lambda: ingests.accept(quick_request(quick, ingests.read_schema), caller, access)
    )
    return await _answered(app_context, ingests, caller, request, accepted, quick.body.wait)


@router.get("/ingest/{ingest_id}", responses=_FOUND | problems(404, 422, 503), response_model=IngestAnswer)
async def get_ingest(
    ingest_id: UUID,
    query: Annotated[IngestStatusQuery, Query()],
    app_context: CurrentAppContext,
    caller: Caller,
    request: Request,
) -> Response:
    """The ingest, as it is now; with `waitTimeout`, once nothing of it waits. A failed one is a 200, too."""
    structlog.contextvars.bind_contextvars(ingest_id=str(ingest_id))
    record = await app_context.access.call(app_context.access.gateway.ingests.find, ingest_id, caller)
    record = await settled_within(
        app_context, record, caller, query.wait_timeout / 1000, lambda: gone(request)
    )
    note_ingest(record)
    return _response(record)


async def _answered(
    app_context: AppContext,
    ingests: IngestService,
    caller: str,
    request: Request,
    accepted: Accepted,
    wait: IngestWait,
) -> Response:
    """Returns the ingest's state after the wait. `ingests` accepted it: the door may be closing by now."""
    record = accepted.record
    note_ingest(record)
    if wait is not IngestWait.ACCEPTED and record.state is IngestState.ACCEPTED:
        with step("sluice.ingest.await_commit"):
            await app_context.waiting.until_finished(accepted.settled, COMMIT_WAIT_S, lambda: gone(request))
        record = await app_context.access.call(_newest, ingests, record, caller)
    if record.state is IngestState.FAILED:
        return failed_ingest_response(record, request.url.path)
    return _response(record)


def _newest(ingests: IngestService, accepted: IngestRecord, caller: str) -> IngestRecord:
    try:
        return ingests.find(accepted.ingest_id, caller)
    except GatewayError as down:
        # The ingest is durable even if its state cannot be read now. An error would make the caller send it
        # again.
        _log.warning("accepted_ingest_not_found", reason=down.detail)
        return accepted


def _response(record: IngestRecord) -> Response:
    status = 202 if record.state is IngestState.ACCEPTED else 200
    content = ingest_answer(record).model_dump_json(by_alias=True)
    return Response(content, status, media_type="application/json")
