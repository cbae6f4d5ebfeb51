"""A query's life over HTTP: send it, wait for it, read its rows, cancel it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated
from uuid import UUID

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request, Response

from api.http.answers.access_fields import note_query, note_query_id
from api.http.answers.rows_answer import accepted_format, query_response
from api.http.app_context import (
    AppContext,
    Caller,
    CallersAccess,
    CallingPrincipal,
    CurrentAppContext,
    gone,
    require_json,
)
from api.http.bodies.json_request import StrictJsonRoute
from api.http.problems.problems import problem_response, recorded_problem_response
from api.http.requests.query_request import query_request
from api.http.routes.documented import Responses, problems
from api.http.routes.queries.query_session import session_of
from api.http.schemas.queries.query_answer import QueryAnswer
from api.http.schemas.queries.query_request import OnWaitTimeout, QueryBody, QueryQuery, RequestQuery
from service.errors.query_errors import QueryNotFound, ResultExpired
from service.gateway import Gateway
from service.model.policies.decisions import Access
from service.model.query.query import QueryRequest, QueryState
from service.policies.require import administers
from service.query.query_service import Submission
from service.query.registry.query_status import QueryStatus

router = APIRouter(tags=["query"], route_class=StrictJsonRoute)

_CANCEL_GRACE_MS = 5_000
"""How long an answer waits for a canceled query to stop."""

_RESULT_GONE = "The query succeeded, but its result is gone. Send the query under a new requestId."

Accept = Annotated[str | None, Header(include_in_schema=False)]

_ANSWERS: Responses = {
    200: {
        "model": QueryAnswer,
        "description": "The query is final. If Accept asks for rows, the answer is its first ones: the header"
        ' Link has `rel="next"` until the last chunk.',
        "content": {
            "text/csv": {"schema": {"type": "string"}},
            "application/vnd.apache.arrow.stream": {"schema": {"type": "string", "format": "binary"}},
        },
    },
    202: {"model": QueryAnswer, "description": "The query is queued or runs."},
}


_CANCELED: Responses = {204: {"description": "Another caller's query is asked to end."}}


@router.post(
    "/query",
    responses=_ANSWERS | problems(400, 403, 404, 406, 408, 409, 410, 413, 415, 422, 429, 503, 504),
    response_model=QueryAnswer,
    dependencies=[Depends(require_json)],
)
async def send_query(
    body: QueryBody,
    app_context: CurrentAppContext,
    caller: Caller,
    access: CallersAccess,
    principal: CallingPrincipal,
    request: Request,
    accept: Accept = None,
) -> Response:
    """Runs a query, and answers with its first rows, or with its state when the wait ends.

    A query that fails within the wait is a problem with the status of its cause and the member `queryId`. So
    is a query that succeeded but whose result is gone, if a `requestId` is sent again after the result's time
    to live.
    """
    accepted = accepted_format(accept)
    app_context.note_statement(body.sql)
    gateway = app_context.access.gateway
    session = await session_of(app_context, body.session_id, caller)
    asked = query_request(body, app_context.settings, session)
    submission = await _submit(app_context, gateway, asked, caller, access, principal.roles)
    query_id = submission.query_id
    note_query_id(query_id)
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    if submission.is_reused:
        # An old requestId: only the metrics store may know its query.
        is_final = await _wait(app_context, gateway, query_id, caller, body.wait_timeout, request)
    else:
        is_final = await _finished_within(app_context, gateway, query_id, body.wait_timeout, request)
    if not is_final and body.on_wait_timeout is OnWaitTimeout.CANCEL:
        await app_context.access.call(gateway.queries.cancel, query_id, caller)
        await _finished_within(app_context, gateway, query_id, _CANCEL_GRACE_MS, request)
    answered, response = await app_context.access.call(
        query_response, gateway, query_id, caller, body.format, accepted, submission.is_reused
    )
    note_query(answered.status.record)
    return _problem_response(answered.status, request) or response


@router.get(
    "/query/{query_id}", responses=_ANSWERS | problems(404, 406, 422, 503), response_model=QueryAnswer
)
async def get_query(
    query_id: UUID,
    query: Annotated[QueryQuery, Query()],
    app_context: CurrentAppContext,
    caller: Caller,
    request: Request,
    accept: Accept = None,
) -> Response:
    """The query, as it is now; with `waitTimeout`, as soon as it is final. A failed query is a 200, too."""
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    gateway = app_context.access.gateway
    if query.wait_timeout:
        await _wait(app_context, gateway, query_id, caller, query.wait_timeout, request)
    answered, response = await app_context.access.call(
        query_response, gateway, query_id, caller, query.format, accepted_format(accept)
    )
    note_query(answered.status.record)
    return response


@router.delete(
    "/query/{query_id}",
    responses=_ANSWERS | _CANCELED | problems(404, 406, 422, 503),
    response_model=QueryAnswer,
)
async def cancel_query(
    query_id: UUID,
    query: Annotated[QueryQuery, Query()],
    app_context: CurrentAppContext,
    caller: Caller,
    access: CallersAccess,
    request: Request,
    accept: Accept = None,
) -> Response:
    """Cancels the query if it is not final yet. Canceling it twice is fine.

    Who administers all tables by policies may cancel any query, and gets no answer about another caller's.
    """
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    note_query_id(query_id)
    gateway = app_context.access.gateway
    try:
        await app_context.access.call(gateway.queries.cancel, query_id, caller)
    except QueryNotFound:
        if not administers(access):
            raise
        await app_context.access.call(gateway.queries.cancel_any, query_id)
        return Response(status_code=204)
    return await _canceled(app_context, query_id, query, caller, request, accept)


@router.delete("/query", responses=_ANSWERS | problems(404, 406, 422, 503), response_model=QueryAnswer)
async def cancel_request(
    query: Annotated[RequestQuery, Query()],
    app_context: CurrentAppContext,
    caller: Caller,
    request: Request,
    accept: Accept = None,
) -> Response:
    """Cancels the caller's query that was sent under a `requestId`, if it is not final yet.

    For a client that got no answer, and so does not know the query's id. A 404 may also mean that the query
    has not arrived yet: ask again.
    """
    queries = app_context.access.gateway.queries
    query_id = await app_context.access.call(queries.known.sent_as, query.request_id, caller)
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    note_query_id(query_id)
    await app_context.access.call(queries.cancel, query_id, caller)
    return await _canceled(app_context, query_id, query, caller, request, accept)


async def _canceled(
    app_context: AppContext,
    query_id: UUID,
    query: QueryQuery,
    caller: str,
    request: Request,
    accept: str | None,
) -> Response:
    gateway = app_context.access.gateway
    if query.wait_timeout:
        await _wait(app_context, gateway, query_id, caller, query.wait_timeout, request)
    _, response = await app_context.access.call(
        query_response, gateway, query_id, caller, query.format, accepted_format(accept)
    )
    return response


async def _submit(
    app_context: AppContext,
    gateway: Gateway,
    asked: QueryRequest,
    caller: str,
    access: Access,
    roles: Collection[str],
) -> Submission:
    if not gateway.queries.may_block(asked):
        return gateway.queries.submit(asked, caller, access, roles)
    return await app_context.access.call(gateway.queries.submit, asked, caller, access, roles)


async def _wait(
    app_context: AppContext, gateway: Gateway, query_id: UUID, caller: str, wait_ms: int, request: Request
) -> bool:
    status = await app_context.access.call(gateway.queries.status, query_id, caller)
    if status.record.state.is_final:
        return True
    return await _finished_within(app_context, gateway, query_id, wait_ms, request)


async def _finished_within(
    app_context: AppContext, gateway: Gateway, query_id: UUID, wait_ms: int, request: Request
) -> bool:
    finished = gateway.queries.finished(query_id)
    return await app_context.waiting.until_finished(finished, wait_ms / 1000, lambda: gone(request))


def _problem_response(status: QueryStatus, request: Request) -> Response | None:
    path, query_id = request.url.path, status.record.query_id
    is_write = status.record.write is not None
    if status.record.state is QueryState.SUCCEEDED and status.manifest is None and not is_write:
        return problem_response(ResultExpired(_RESULT_GONE), path, query_id)
    if status.record.state is not QueryState.FAILED:
        return None
    if status.failure is not None:
        return problem_response(status.failure, path, query_id, status.record.write)
    if status.record.error is not None:
        return recorded_problem_response(status.record.error, path, query_id, status.record.write)
    return None
