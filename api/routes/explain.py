"""What a query did, and why."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

import structlog
from fastapi import APIRouter, Header, Query, Response

from api.edge import Caller, EdgeOfApp
from api.explain_text import explain_text
from api.negotiation import choose
from api.routes.documented import problems, success
from api.schemas.explanation import ExplanationAnswer, explanation_answer
from api.schemas.tables import NoQuery

router = APIRouter(tags=["explain"])

_JSON, _TEXT = "application/json", "text/plain"
_ANSWER: dict[str, Any] = {
    "model": ExplanationAnswer,
    "description": "By Accept: JSON, or text for people.",
    "content": {_TEXT: {"schema": {"type": "string"}}},
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
    """The SQL, the engine's plans, and every scan as selected of total; also of a query that failed."""
    structlog.contextvars.bind_contextvars(query_id=str(query_id))
    media_type = choose(accept, [_JSON, _TEXT])
    explanation = await edge.door.call(edge.door.gateway.explain, query_id, caller)
    if media_type == _TEXT:
        content = explain_text(explanation).encode(errors="replace")
    else:
        content = explanation_answer(explanation).model_dump_json(by_alias=True).encode()
    return Response(content, headers={"Vary": "Accept"}, media_type=media_type)
