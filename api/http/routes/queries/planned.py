"""Waits for a query that is planned or described, and not run."""

from __future__ import annotations

from typing import TypeVar

from fastapi import Request

from api.http.app_context import AppContext, gone
from api.http.waiting import ClientGone
from service.errors.query_errors import QueryTimedOut
from service.query.explaining.planning_service import Planning

T = TypeVar("T")


async def planned(app_context: AppContext, planning: Planning[T], timeout_ms: int, request: Request) -> T:
    """Returns what was asked of the query, once it is there.

    Raises:
        ClientGone: the client hung up before.
        QueryTimedOut: it was not there within the query's own timeout.
        GatewayError: planning failed for this reason.
    """
    queries = app_context.access.gateway.queries
    seconds = timeout_ms / 1000
    try:
        is_there = await app_context.waiting.until_finished(planning.finished, seconds, lambda: gone(request))
    except ClientGone:
        await app_context.access.call(queries.explainer.stop_planning, planning)
        raise
    if not is_there:
        await app_context.access.call(queries.explainer.stop_planning, planning)
        raise QueryTimedOut(f"The query was not planned within its timeout of {seconds:g} s.")
    return planning.explanation()
