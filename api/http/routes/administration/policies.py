"""Policies, for administrators."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Response
from pydantic import Field

from api.http.app_context import AppContext, CallingPrincipal, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.problems.http_errors import InvalidRequest, PoliciesVersionRequired
from api.http.requests.table_name import table_name
from api.http.routes.documented import problems
from api.http.schemas.administration.policy_answers import PoliciesAnswer, policies_answer
from api.http.schemas.administration.policy_changes import (
    DecideBody,
    DecisionAnswer,
    PlannedChangeAnswer,
    PolicyChangesAnswer,
    decision_answer,
    planned_change_answer,
    policy_change_answer,
)
from api.http.schemas.administration.policy_documents import PoliciesBody
from api.http.schemas.tables.table_schemas import NoQuery
from api.http.schemas.wire import StrictModel
from service.audited import note
from service.errors.policy_errors import AdminRequired
from service.faults import Fault
from service.model.audit.events import Details
from service.model.authentication.principals import Admins, Principal
from service.model.policies.actions import Action
from service.policies.manage_policies import PolicyService

router = APIRouter(tags=["policies"], route_class=StrictJsonRoute)
_VERSION_TAG = re.compile(r'"(\d{1,18})"')


class ChangeQuery(StrictModel):
    """The query parameters of a change."""

    dry_run: Annotated[
        bool, Field(strict=False, description="true: check the change and show its difference, and make none")
    ] = False


class HistoryQuery(StrictModel):
    """The query parameters of the history."""

    limit: Annotated[int, Field(strict=False, ge=1, le=1_000)] = 100


IfMatch = Annotated[
    str | None, Header(max_length=100, description='the version that was read, as its ETag: `"7"`')
]


@router.get("/policies", responses=problems(403, 422, 503), response_model_exclude_none=True)
async def get_policies(
    _: Annotated[NoQuery, Query()],
    app_context: CurrentAppContext,
    principal: CallingPrincipal,
    response: Response,
) -> PoliciesAnswer:
    """Returns all policies. The header ETag has their version."""
    policies = await app_context.access.call(_policies(app_context, principal).current)
    response.headers["ETag"] = f'"{policies.version}"'
    return policies_answer(policies)


@router.put(
    "/policies",
    responses=problems(400, 403, 408, 412, 413, 415, 422, 428, 503),
    dependencies=[Depends(require_json)],
    response_model_exclude_none=True,
)
async def put_policies(
    body: PoliciesBody,
    asked: Annotated[ChangeQuery, Query()],
    app_context: CurrentAppContext,
    principal: CallingPrincipal,
    response: Response,
    if_match: IfMatch = None,
) -> PlannedChangeAnswer:
    """Replaces all policies, if their version is the one that was read.

    The SQL of added row filters and masks is checked on the tables that they match.
    """
    service = _policies(app_context, principal)
    version = _expected_version(if_match, body.version)
    if asked.dry_run:
        change = partial(service.plan, body.proposal(), version)
    else:
        change = partial(service.replace, body.proposal(), version, principal.name)
    note(Details(target="dry run" if asked.dry_run else None))
    planned = await app_context.access.call(change)
    if not asked.dry_run:
        note(Details(target=f"version {planned.policies.version}"))
        response.headers["ETag"] = f'"{planned.policies.version}"'
    return planned_change_answer(planned, is_dry_run=asked.dry_run)


@router.get("/policies/changes", responses=problems(403, 422, 503), response_model_exclude_none=True)
async def list_policy_changes(
    asked: Annotated[HistoryQuery, Query()], app_context: CurrentAppContext, principal: CallingPrincipal
) -> PolicyChangesAnswer:
    """Lists the latest changes of policies, the newest first: who changed what, and when."""
    found = await app_context.access.call(_policies(app_context, principal).changes, asked.limit)
    return PolicyChangesAnswer(changes=[policy_change_answer(change) for change in found])


@router.post(
    "/policies/decide",
    responses=problems(400, 403, 408, 413, 415, 422, 503),
    dependencies=[Depends(require_json)],
)
async def decide(
    body: DecideBody, app_context: CurrentAppContext, principal: CallingPrincipal
) -> DecisionAnswer:
    """Returns what the stored policies decide for these roles. It has no effect."""
    table = table_name(body.table, "/table")
    version, decision = await app_context.access.call(
        _policies(app_context, principal).decide, frozenset(body.roles), Action(body.action), table
    )
    return decision_answer(version, decision)


def _policies(app_context: AppContext, principal: Principal) -> PolicyService:
    service = app_context.access.gateway.policy_service
    is_admin = Admins(frozenset(app_context.settings.admins)).has(principal)
    if not is_admin and not service.is_administered_by(principal.roles):
        raise AdminRequired
    return service


def _expected_version(if_match: str | None, in_body: int | None) -> int:
    if if_match is None:
        if in_body is None:
            raise PoliciesVersionRequired
        return in_body
    tag = _VERSION_TAG.fullmatch(if_match.strip())
    if tag is None:
        raise InvalidRequest([Fault('it is not a version of the policies, such as "7"', "/header/If-Match")])
    if in_body is not None and in_body != int(tag[1]):
        raise InvalidRequest([Fault("If-Match has another version than the body", "/version")])
    return int(tag[1])
