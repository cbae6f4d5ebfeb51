"""The gateways that share a metrics store."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.http.app_context import CallersAccess, CurrentAppContext
from api.http.routes.documented import problems
from api.http.schemas.administration.replicas import ReplicasAnswer, ReplicasQuery, replica_answer
from service.policies.require import require_admin

router = APIRouter(tags=["health"])


@router.get("/replicas", responses=problems(403, 422, 503))
async def list_replicas(
    query: Annotated[ReplicasQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> ReplicasAnswer:
    """Lists the gateways that share the metrics store, and how many queries are open at each.

    For administrators of all tables.
    """
    require_admin(access)
    overview = app_context.access.gateway.queries.overview
    found = await app_context.access.call(overview.replicas, query.limit)
    return ReplicasAnswer(
        replicas=[replica_answer(seen) for seen in found],
        lost_after_ms=app_context.settings.replica_lost_after_s * 1000,
    )
