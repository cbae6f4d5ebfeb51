"""API keys, for administrators."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Response
from pydantic import Field

from api.http.app_context import AppContext, CallingPrincipal, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.routes.documented import problems
from api.http.schemas.administration.api_keys import (
    KeyAnswer,
    KeyBody,
    KeyList,
    MadeKeyAnswer,
    key_answer,
    made_key_answer,
)
from api.http.schemas.wire import StrictModel
from service.audited import note
from service.authentication.manage_keys import ApiKeys
from service.errors.policy_errors import AdminRequired
from service.model.audit.events import Details
from service.model.authentication.principals import Admins, Principal

router = APIRouter(tags=["keys"], route_class=StrictJsonRoute)
KeyId = Annotated[
    str, Path(pattern=r"^[0-9a-f]{16}$", description="the part of a key between its first two _")
]


class KeyQuery(StrictModel):
    """The query parameters of the list."""

    limit: Annotated[int, Field(strict=False, ge=1, le=10_000)] = 1_000


@router.post(
    "/keys",
    status_code=201,
    responses=problems(400, 403, 408, 413, 415, 422, 503),
    dependencies=[Depends(require_json)],
)
async def create_key(
    body: KeyBody, app_context: CurrentAppContext, principal: CallingPrincipal, response: Response
) -> MadeKeyAnswer:
    """Creates an API key. Only this answer has its text."""
    keys = _keys(app_context, principal)
    made = await app_context.access.call(keys.create, body.request(), principal.name)
    note(Details(target=made.key.key_id))
    response.headers["Cache-Control"] = "no-store"
    return made_key_answer(made)


@router.get("/keys", responses=problems(403, 422, 503))
async def list_keys(
    asked: Annotated[KeyQuery, Query()], app_context: CurrentAppContext, principal: CallingPrincipal
) -> KeyList:
    """Lists all API keys, the newest first, also expired and revoked ones, without their secrets."""
    keys = _keys(app_context, principal)
    found = await app_context.access.call(keys.newest, asked.limit)
    return KeyList(keys=[key_answer(key) for key in found])


@router.delete("/keys/{key_id}", responses=problems(403, 404, 422, 503))
async def revoke_key(key_id: KeyId, app_context: CurrentAppContext, principal: CallingPrincipal) -> KeyAnswer:
    """Revokes an API key: at this replica at once, at all others within `api_key_cache_ttl_s`."""
    note(Details(target=key_id))
    keys = _keys(app_context, principal)
    revoked = await app_context.access.call(keys.revoke, key_id, principal.name)
    app_context.forget_key(key_id)
    return key_answer(revoked)


def _keys(app_context: AppContext, principal: Principal) -> ApiKeys:
    if not Admins(frozenset(app_context.settings.admins)).has(principal):
        raise AdminRequired
    return app_context.access.gateway.api_keys
