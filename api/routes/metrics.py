"""Numbers for a monitor."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from api.edge import EdgeOfApp
from api.routes.documented import problems, success
from api.schemas.tables import NoQuery

router = APIRouter(tags=["health"])

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ANSWER: dict[str, Any] = {
    "description": "Prometheus' text format.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


@router.get("/metrics", responses=success(_ANSWER) | problems(422, 503), response_class=Response)
async def metrics(_: Annotated[NoQuery, Query()], edge: EdgeOfApp) -> Response:
    """What this process has done since its start: queries, filters, what scans read and left out."""
    # Only memory is looked at: no part is asked.
    return Response(edge.door.gateway.meters(), headers={"Content-Type": MEDIA_TYPE})
