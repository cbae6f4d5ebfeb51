"""The explanation of a query: what it did, and why."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import structlog
from fastapi import APIRouter, Depends, Header, Query, Request, Response

from api.http.answers.access_fields import note_explained
from api.http.answers.negotiation import choose
from api.http.app_context import Caller, CallersAccess, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.explain.explain_html.page import CONTENT_SECURITY_POLICY, explain_html
from api.http.explain.explain_text import explain_text
from api.http.requests.query_request import query_request
from api.http.routes.documented import problems, success
from api.http.routes.queries.planned import planned
from api.http.routes.queries.query_session import session_of
from api.http.schemas.queries.explanation import ExplanationAnswer, explanation_answer
from api.http.schemas.queries.query_request import QueryBody
from api.http.schemas.tables.table_schemas import NoQuery
from service.model.query.explanation import Explanation

router = APIRouter(tags=["explain"], route_class=StrictJsonRoute)

_HEADERS = {
    "Vary": "Accept",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
}

_JSON, _TEXT, _HTML = "application/json", "text/plain", "text/html"
_ANSWER: dict[str, Any] = {
    "model": ExplanationAnswer,
    "description": "Depends on Accept: JSON, text for people, or a page with a picture.",
    "content": {_TEXT: {"schema": {"type": "string"}}, _HTML: {"schema": {"type": "string"}}},
}


@router.get(
    "/explain/{query_id}",
    responses=success(_ANSWER) | problems(404, 406, 422, 503),
    response_model=ExplanationAnswer,
)
async def explain(
    query_id: UUID,
    _: Annotated[NoQuery, Query()],
    app_context: CurrentAppContext,
    caller: Caller,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """The SQL, the plans, every filter, and what each scan read of the total; also for a failed query."""
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    media_type = choose(accept, [_JSON, _TEXT, _HTML])
    explanation = await app_context.access.call(
        app_context.access.gateway.queries.explainer.explain, query_id, caller
    )
    content = await app_context.access.call(_content, explanation, media_type)
    return Response(content, headers=_HEADERS, media_type=media_type)


@router.post(
    "/explain",
    responses=success(_ANSWER) | problems(400, 403, 404, 406, 408, 413, 415, 422, 429, 503, 504),
    response_model=ExplanationAnswer,
    dependencies=[Depends(require_json)],
)
async def explain_before(
    body: QueryBody,
    app_context: CurrentAppContext,
    caller: Caller,
    access: CallersAccess,
    request: Request,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """Explains what POST /query would run for this body now: filters, rewritten text, and files to read.

    Keys are collected and cached as for a run. The query itself is planned, but not run. Nothing of it is
    recorded: the answer has no `queryId`, and `requestId`, `tags`, `format` and the wait have no effect.
    """
    media_type = choose(accept, [_JSON, _TEXT, _HTML])
    app_context.note_statement(body.sql)
    session = await session_of(app_context, body.session_id, caller)
    asked = query_request(body, app_context.settings, session)
    planning = app_context.access.gateway.queries.explainer.plan(asked, caller, access)
    explanation = await planned(app_context, planning, asked.timeout_ms, request)
    note_explained(explanation, access)
    content = await app_context.access.call(_content, explanation, media_type)
    return Response(content, headers=_HEADERS, media_type=media_type)


def _content(explanation: Explanation, media_type: str) -> bytes:
    if media_type == _JSON:
        return explanation_answer(explanation).model_dump_json(by_alias=True).encode()
    text = explain_html(explanation) if media_type == _HTML else explain_text(explanation)
    return text.encode(errors="replace")
