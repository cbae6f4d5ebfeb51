"""The columns and parameters of a query, before it runs."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request

from api.http.app_context import Caller, CallersAccess, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.requests.query_request import query_request
from api.http.routes.documented import problems
from api.http.routes.queries.planned import planned
from api.http.routes.queries.query_session import session_of
from api.http.schemas.queries.description import DescriptionAnswer, description_answer
from api.http.schemas.queries.query_request import QueryBody

router = APIRouter(tags=["query"], route_class=StrictJsonRoute)


@router.post(
    "/describe",
    responses=problems(400, 403, 404, 408, 413, 415, 422, 429, 503, 504),
    dependencies=[Depends(require_json)],
)
async def describe(
    body: QueryBody, app_context: CurrentAppContext, caller: Caller, access: CallersAccess, request: Request
) -> DescriptionAnswer:
    """The columns and the parameters of a query. It is analyzed with all checks of a run, and not run.

    Values of parameters may be left out. A parameter without a value has the type of its place in the query;
    null if there is no place that decides it, or if its places differ. Nothing is recorded: `requestId`,
    `tags`, `format` and the wait have no effect.
    """
    app_context.note_statement(body.sql)
    session = await session_of(app_context, body.session_id, caller)
    asked = query_request(body, app_context.settings, session)
    planning = app_context.access.gateway.queries.explainer.describe(asked, caller, access)
    return description_answer(await planned(app_context, planning, asked.timeout_ms, request))
