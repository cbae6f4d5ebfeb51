"""The effect of pruning, table by table."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.http.app_context import CurrentAppContext
from api.http.routes.documented import problems
from api.http.schemas.pruning_summary import PruningSummaryAnswer, PruningSummaryQuery, pruning_summary_answer

router = APIRouter(tags=["pruning"])


@router.get("/pruning/summary", responses=problems(422, 503))
async def pruning_summary(
    query: Annotated[PruningSummaryQuery, Query()], app_context: CurrentAppContext
) -> PruningSummaryAnswer:
    """For each table: what was read of the total, and what became of the filters that could prune it."""
    found = await app_context.access.call(
        app_context.access.gateway.queries.pruning_summary, query.since, query.table
    )
    return pruning_summary_answer(found)
