"""The metrics of this process, for Prometheus."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from api.http.edge import EdgeOfApp
from api.http.routes.documented import problems, success
from api.http.schemas.tables import NoQuery
from service.errors import EngineNotReady, ShuttingDown

router = APIRouter(tags=["health"])

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ANSWER: dict[str, Any] = {
    "description": "Prometheus' text format.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


@router.get("/metrics", responses=success(_ANSWER) | problems(422), response_class=Response)
async def metrics(_: Annotated[NoQuery, Query()], edge: EdgeOfApp) -> Response:
    """Counts since the start of this process: queries, filters, and what scans read and skipped.

    While the gateway starts or stops, `sluice_ready` is 0, and only metrics of the process are there.
    """
    # Reads memory only: no part is asked.
    try:
        meters, is_ready = edge.door.gateway.meters(), True
    except (EngineNotReady, ShuttingDown):
        meters, is_ready = b"", False
    content = edge.process_metrics.exposition(is_ready) + meters
    return Response(content, headers={"Content-Type": MEDIA_TYPE})
