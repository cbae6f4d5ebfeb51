"""The metrics of this process, for Prometheus."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from api.http.app_context import CurrentAppContext
from api.http.routes.documented import problems, success
from api.http.schemas.tables.table_schemas import NoQuery
from service.errors.unavailable import EngineNotReady, ShuttingDown

router = APIRouter(tags=["health"])

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ANSWER: dict[str, Any] = {
    "description": "Prometheus' text format.",
    "content": {"text/plain": {"schema": {"type": "string"}}},
}


@router.get("/metrics", responses=success(_ANSWER) | problems(422), response_class=Response)
async def metrics(_: Annotated[NoQuery, Query()], app_context: CurrentAppContext) -> Response:
    """Counts since the start of this process: queries, filters, and what scans read and skipped.

    While the gateway starts or stops, `sluice_ready` is 0, and only metrics of the process are there.
    """
    # Reads memory only: no part is asked.
    try:
        metrics, is_ready = app_context.access.gateway.metrics(), True
    except (EngineNotReady, ShuttingDown):
        metrics, is_ready = b"", False
    content = app_context.process_metrics.exposition(is_ready) + metrics
    return Response(content, headers={"Content-Type": MEDIA_TYPE})
