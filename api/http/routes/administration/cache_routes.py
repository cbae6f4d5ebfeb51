"""The caches of this gateway: their use, and how they are emptied."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.bootstrap.spelling import Spelled
from api.http.app_context import CallersAccess, CurrentAppContext
from api.http.routes.documented import problems
from api.http.schemas.administration.caches import CachesAnswer, caches_answer
from api.http.schemas.administration.filters import DeletedAnswer
from api.http.schemas.tables.table_schemas import NoQuery
from service.audited import note
from service.model.audit.events import Details
from service.policies.require import require_admin

router = APIRouter(tags=["caches"])

Name = Annotated[
    str,
    Path(max_length=64),
    Spelled(r"^[a-z_]+$", "it is not the name of a cache: GET /caches lists them"),
]


@router.get("/caches", responses=problems(403, 422, 503))
async def list_caches(
    _: Annotated[NoQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> CachesAnswer:
    """Lists the caches of the gateway that answers, for administrators. Other replicas have their own."""
    require_admin(access)
    return caches_answer(app_context.access.gateway.caches)


@router.delete("/caches/{name}", responses=problems(403, 404, 409, 422, 503))
async def empty_cache(
    name: Name, _: Annotated[NoQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> DeletedAnswer:
    """Forgets all entries of a cache of the gateway that answers. For administrators.

    Queries make them again. `filter_keys` and `reusable_results` are forgotten on the shared server, too.
    """
    note(Details(target=name))
    require_admin(access)
    return DeletedAnswer(deleted=await app_context.access.call(app_context.access.gateway.caches.empty, name))
