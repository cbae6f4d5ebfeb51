"""Sessions: values that all queries of a caller share. Any replica serves them."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Request

from api.http.app_context import Caller, CallersAccess, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.requests.query_request import query_request
from api.http.routes.documented import Responses, problems
from api.http.routes.queries.planned import planned
from api.http.schemas.queries.query_request import QueryBody
from api.http.schemas.queries.session_schemas import SessionAnswer, SessionBody, ViewBody, session_answer
from service.errors.statement_errors import ParameterMissing, StatementNotAllowed
from service.model.query.statement_text import query_text
from service.model.sessions.sessions import SessionUse, SessionView

router = APIRouter(tags=["sessions"], route_class=StrictJsonRoute)

ViewName = Annotated[
    str, Path(max_length=128, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="the name of a temporary view")
]
_ENDED: Responses = {204: {"description": "The session has ended."}}


@router.post(
    "/sessions",
    status_code=201,
    responses=problems(400, 408, 413, 415, 422, 429, 503),
    dependencies=[Depends(require_json)],
)
async def create_session(body: SessionBody, app_context: CurrentAppContext, caller: Caller) -> SessionAnswer:
    """Creates a session. It belongs to its caller: for all others it does not exist."""
    sessions = app_context.access.gateway.sessions
    made = await app_context.access.call(
        sessions.create, caller, body.catalog, body.schema_, body.all_settings()
    )
    return session_answer(made)


@router.get("/sessions/{session_id}", responses=problems(404, 422, 503))
async def get_session(session_id: UUID, app_context: CurrentAppContext, caller: Caller) -> SessionAnswer:
    """The values of a session. This uses it, so it lasts from now on."""
    sessions = app_context.access.gateway.sessions
    return session_answer(await app_context.access.call(sessions.use, session_id, caller))


@router.delete("/sessions/{session_id}", status_code=204, responses=_ENDED | problems(404, 422, 503))
async def end_session(session_id: UUID, app_context: CurrentAppContext, caller: Caller) -> None:
    """Ends a session. Queries that were sent in it go on."""
    await app_context.access.call(app_context.access.gateway.sessions.end, session_id, caller)


@router.put(
    "/sessions/{session_id}/views/{name}",
    responses=problems(400, 403, 404, 408, 413, 415, 422, 429, 503, 504),
    dependencies=[Depends(require_json)],
)
async def put_view(
    session_id: UUID,
    name: ViewName,
    body: ViewBody,
    app_context: CurrentAppContext,
    caller: Caller,
    access: CallersAccess,
    request: Request,
) -> SessionAnswer:
    """Adds a temporary view to a session, or replaces the one of this name.

    Its text is checked now, as POST /describe does, and again by each query that names the view.
    """
    app_context.note_statement(body.sql)
    gateway = app_context.access.gateway
    session = await app_context.access.call(gateway.sessions.values, session_id, caller)
    asked = query_request(
        QueryBody.model_validate({"sql": body.sql}), app_context.settings, _before(session, name)
    )
    if query_text(body.sql).explain is not None:
        raise StatementNotAllowed("A temporary view is a query: leave EXPLAIN out.")
    planning = gateway.queries.explainer.describe(asked, caller, access)
    described = await planned(app_context, planning, asked.timeout_ms, request)
    if described.parameters:
        raise ParameterMissing("A temporary view has no parameters: write their values into its text.")
    # Later, the session may have another schema; the names in the text keep this one.
    view = SessionView(name, body.sql, asked.catalog, asked.schema)
    changed = await app_context.access.call(gateway.sessions.put_view, session_id, caller, view)
    return session_answer(changed)


@router.delete("/sessions/{session_id}/views/{name}", responses=problems(404, 422, 503))
async def drop_view(
    session_id: UUID, name: ViewName, app_context: CurrentAppContext, caller: Caller
) -> SessionAnswer:
    """Removes a temporary view from a session."""
    sessions = app_context.access.gateway.sessions
    return session_answer(await app_context.access.call(sessions.drop_view, session_id, caller, name))


def _before(session: SessionUse, name: str) -> SessionUse:
    """Returns the session with the views that a view of this name may read: those before it."""
    return SessionUse(session.session_id, session.values.before(name))
