"""The filter cache: its entries, and their deletion."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.bootstrap.spelling import Spelled
from api.http.app_context import CallersAccess, CurrentAppContext
from api.http.routes.documented import problems
from api.http.schemas.administration.filters import DeletedAnswer, FiltersAnswer, FiltersQuery, filter_answer
from api.http.schemas.tables.table_schemas import NoQuery
from service.audited import note
from service.model.audit.events import Details
from service.policies.require import require_admin

router = APIRouter(tags=["filters"])

Fingerprint = Annotated[
    str,
    Path(max_length=128),
    Spelled(r"^[0-9A-Za-z_-]+$", "it is not a fingerprint: GET /filters lists the existing ones"),
]


@router.get("/filters", responses=problems(403, 422, 503))
async def list_filters(
    query: Annotated[FiltersQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> FiltersAnswer:
    """Lists the key sets of filters that queries share now, for administrators."""
    require_admin(access)
    found = await app_context.access.call(app_context.access.gateway.filters, query.limit)
    return FiltersAnswer(filters=[filter_answer(cached_filter) for cached_filter in found])


@router.delete("/filters", responses=problems(403, 422, 503))
async def delete_filters(
    _: Annotated[NoQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> DeletedAnswer:
    """Deletes all key sets; the next queries collect them again. For administrators."""
    require_admin(access)
    return DeletedAnswer(deleted=await app_context.access.call(app_context.access.gateway.forget_filters))


@router.delete("/filters/{fingerprint}", responses=problems(403, 422, 503))
async def delete_filter(
    fingerprint: Fingerprint,
    _: Annotated[NoQuery, Query()],
    app_context: CurrentAppContext,
    access: CallersAccess,
) -> DeletedAnswer:
    """Deletes one key set; it is not an error if there is none. For administrators."""
    note(Details(target=fingerprint))
    require_admin(access)
    return DeletedAnswer(
        deleted=await app_context.access.call(app_context.access.gateway.forget_filters, fingerprint)
    )
