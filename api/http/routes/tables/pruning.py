"""The effect of pruning, table by table."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from api.http.app_context import CallersAccess, CurrentAppContext
from api.http.routes.documented import problems
from api.http.schemas.queries.pruning_summary import (
    PruningSummaryAnswer,
    PruningSummaryQuery,
    pruning_summary_answer,
)
from service.model.tables.tables import TableName
from service.policies.shown_counts import shows_counts

router = APIRouter(tags=["pruning"])


@router.get("/pruning/summary", responses=problems(422, 503))
async def pruning_summary(
    query: Annotated[PruningSummaryQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> PruningSummaryAnswer:
    """For each table whose rows the caller may all see: what was read of the total, and what filters did."""
    found = await app_context.access.call(
        app_context.access.gateway.queries.overview.pruning_summary, query.since, query.table
    )
    known = [table for table in found.tables if shows_counts(access, TableName.of(table.table))]
    return pruning_summary_answer(replace(found, tables=tuple(known)))
