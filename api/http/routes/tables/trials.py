"""Trials of advice on the layout of a table."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Response

from api.http.app_context import Caller, CallersAccess, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.requests.table_name import FULL_NAME, table_name
from api.http.routes.documented import Responses, problems
from api.http.schemas.tables.layout_trial import (
    TrialAnswer,
    TrialBody,
    TrialsAnswer,
    trial_answer,
    trial_request,
)
from api.http.schemas.tables.table_schemas import NoQuery
from service.audited import note
from service.model.audit.events import Details
from service.model.policies.actions import Action
from service.model.query.layout_trial import LayoutTrial
from service.policies.require import may, require

router = APIRouter(tags=["tables"], route_class=StrictJsonRoute)

Name = Annotated[
    str, Path(max_length=1024, description="catalog.schema.table", json_schema_extra={"pattern": FULL_NAME})
]
_RUNS: Responses = {202: {"model": TrialAnswer, "description": "It runs, or its copy is being dropped."}}
_ENDED: Responses = {200: {"model": TrialAnswer, "description": "It has ended, as `state` says."}}


@router.post(
    "/advice/{name}/trials",
    responses=_RUNS | problems(400, 403, 404, 408, 409, 413, 415, 422, 503),
    status_code=202,
    response_model=TrialAnswer,
    dependencies=[Depends(require_json)],
)
async def try_advice(
    name: Name, body: TrialBody, app_context: CurrentAppContext, caller: Caller, access: CallersAccess
) -> Response:
    """Changes a copy of the table as advised, counts what the recorded scans select of it, and drops it.

    The table does not change. Callers who may maintain it, and see every row, may do this if the operator
    has enabled it.
    """
    note(Details(tables=(name,)))
    table = table_name(name)
    require(access, Action.MAINTAIN, table)
    ask = app_context.access.gateway.layout_trials.ask
    trial = await app_context.access.call(ask, trial_request(body, table), caller, access)
    note(Details(target=str(trial.trial_id), tables=(name,)))
    return _response(trial)


@router.get("/advice/{name}/trials", responses=problems(403, 422, 503))
async def list_trials(
    name: Name, _: Annotated[NoQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> TrialsAnswer:
    """The table's trials, the newest first. Only for callers who see every row of the table."""
    table = table_name(name)
    trials = app_context.access.gateway.layout_trials
    found = await app_context.access.call(trials.latest, table, access)
    return TrialsAnswer(
        may_request=may(access, Action.MAINTAIN, table) and trials.is_allowed(table),
        trials=[trial_answer(trial) for trial in found],
    )


@router.get(
    "/advice/{name}/trials/{trial_id}",
    responses=_ENDED | _RUNS | problems(403, 404, 422, 503),
    response_model=TrialAnswer,
)
async def get_trial(
    name: Name, trial_id: UUID, app_context: CurrentAppContext, access: CallersAccess
) -> Response:
    """The trial, as it is now. A failed one is a 200, too."""
    find = app_context.access.gateway.layout_trials.find
    return _response(await app_context.access.call(find, table_name(name), trial_id, access))


@router.delete(
    "/advice/{name}/trials/{trial_id}",
    responses=_ENDED | _RUNS | problems(403, 404, 422, 503),
    response_model=TrialAnswer,
)
async def cancel_trial(
    name: Name, trial_id: UUID, app_context: CurrentAppContext, access: CallersAccess
) -> Response:
    """Ends the trial soon, at whichever replica it runs; its copy is dropped. One that has ended stays."""
    note(Details(target=str(trial_id), tables=(name,)))
    table = table_name(name)
    require(access, Action.MAINTAIN, table)
    cancel = app_context.access.gateway.layout_trials.cancel
    return _response(await app_context.access.call(cancel, table, trial_id, access))


def _response(trial: LayoutTrial) -> Response:
    status = 200 if trial.state.is_ended else 202
    content = trial_answer(trial).model_dump_json(by_alias=True)
    return Response(content, status, media_type="application/json")
