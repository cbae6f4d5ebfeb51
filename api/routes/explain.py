"""What a query did, and why."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import structlog
from fastapi import APIRouter, Header, Query, Response

from api.edge import Caller, EdgeOfApp
from api.explain_html.page import CONTENT_SECURITY_POLICY, explain_html
from api.explain_text import explain_text
from api.negotiation import choose
from api.routes.documented import problems, success
from api.schemas.explanation import ExplanationAnswer, explanation_answer
from api.schemas.tables import NoQuery
from service.model.explanation import Explanation

router = APIRouter(tags=["explain"])

_HEADERS = {
    "Vary": "Accept",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
}

_JSON, _TEXT, _HTML = "application/json", "text/plain", "text/html"
_ANSWER: dict[str, Any] = {
    "model": ExplanationAnswer,
    "description": "By Accept: JSON; text, or a page with a picture, for people.",
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
    edge: EdgeOfApp,
    caller: Caller,
    accept: Annotated[str | None, Header(include_in_schema=False)] = None,
) -> Response:
    """The SQL, the plans, every filter and every scan as selected of total; also of a query that failed."""
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    media_type = choose(accept, [_JSON, _TEXT, _HTML])
    explanation = await edge.door.call(edge.door.gateway.explain, query_id, caller)
    content = await edge.door.call(_content, explanation, media_type)
    return Response(content, headers=_HEADERS, media_type=media_type)


def _content(explanation: Explanation, media_type: str) -> bytes:
    if media_type == _JSON:
        return explanation_answer(explanation).model_dump_json(by_alias=True).encode()
    text = explain_html(explanation) if media_type == _HTML else explain_text(explanation)
    return text.encode(errors="replace")
