"""Saved queries: texts that callers keep and share. Any replica serves them."""

from __future__ import annotations

import re
from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Header, Query, Response

from api.http.answers.page_token import page_token, position_of
from api.http.app_context import AppContext, Caller, CurrentAppContext, require_json
from api.http.bodies.json_request import StrictJsonRoute
from api.http.problems.http_errors import InvalidRequest, SavedQueryVersionRequired
from api.http.routes.documented import Responses, problems
from api.http.schemas.queries.saved_query_schemas import (
    SavedQueriesAnswer,
    SavedQueriesQuery,
    SavedQueryAnswer,
    SavedQueryBody,
    saved_query_answer,
)
from service.audited import note
from service.faults import Fault
from service.model.audit.events import Details
from service.model.query.history import QueryPosition
from service.model.query.saved_queries import SavedQuery, SavedQueryListing, SavedQueryPosition
from service.saved_queries.saved_query_service import SavedQueryService

router = APIRouter(tags=["saved queries"], route_class=StrictJsonRoute)
IfMatch = Annotated[
    str | None, Header(max_length=100, description='the version that was read, as its ETag: `"7"`')
]
_VERSION_TAG = re.compile(r'"(\d{1,18})"')
_DELETED: Responses = {204: {"description": "The query is deleted."}}


@router.post(
    "/saved-queries",
    status_code=201,
    responses=problems(400, 408, 409, 413, 415, 422, 503),
    dependencies=[Depends(require_json)],
)
async def save_query(
    body: SavedQueryBody, app_context: CurrentAppContext, caller: Caller, response: Response
) -> SavedQueryAnswer:
    """Saves a query. Its owner is the caller. Without `shared`, it does not exist for others."""
    saving = partial(_saved(app_context).save, caller, body.saved_text())
    return _answer(await app_context.access.call(saving), caller, response)


@router.get("/saved-queries", responses=problems(422, 503))
async def list_saved_queries(
    asked: Annotated[SavedQueriesQuery, Query()], app_context: CurrentAppContext, caller: Caller
) -> SavedQueriesAnswer:
    """The queries that the caller has saved, and those that others share, the last changed ones first."""
    before = None if asked.page_token is None else _position(asked.page_token)
    # The entry beyond the limit shows whether there is another page.
    listing = SavedQueryListing(caller, asked.limit + 1, asked.scope, asked.name, before)
    found = await app_context.access.call(_saved(app_context).list, listing)
    shown = found[: asked.limit]
    return SavedQueriesAnswer(
        saved_queries=[saved_query_answer(saved, caller) for saved in shown],
        next_page_token=_token(shown[-1]) if len(found) > asked.limit else None,
    )


@router.get("/saved-queries/{saved_query_id}", responses=problems(404, 422, 503))
async def get_saved_query(
    saved_query_id: UUID, app_context: CurrentAppContext, caller: Caller, response: Response
) -> SavedQueryAnswer:
    """A saved query with its whole text. The header ETag has its version."""
    found = await app_context.access.call(_saved(app_context).find, saved_query_id, caller)
    return _answer(found, caller, response)


@router.put(
    "/saved-queries/{saved_query_id}",
    responses=problems(400, 403, 404, 408, 412, 413, 415, 422, 428, 503),
    dependencies=[Depends(require_json)],
)
async def replace_saved_query(
    saved_query_id: UUID,
    body: SavedQueryBody,
    app_context: CurrentAppContext,
    caller: Caller,
    response: Response,
    if_match: IfMatch = None,
) -> SavedQueryAnswer:
    """Replaces a saved query of the caller, if its version is the one that was read."""
    note(Details(target=str(saved_query_id)))
    if if_match is None:
        raise SavedQueryVersionRequired
    replacing = partial(
        _saved(app_context).replace, saved_query_id, caller, _version(if_match), body.saved_text()
    )
    return _answer(await app_context.access.call(replacing), caller, response)


@router.delete(
    "/saved-queries/{saved_query_id}", status_code=204, responses=_DELETED | problems(403, 404, 412, 422, 503)
)
async def delete_saved_query(
    saved_query_id: UUID, app_context: CurrentAppContext, caller: Caller, if_match: IfMatch = None
) -> None:
    """Deletes a saved query of the caller. With If-Match, only in the version that was read."""
    note(Details(target=str(saved_query_id)))
    version = None if if_match is None else _version(if_match)
    await app_context.access.call(_saved(app_context).delete, saved_query_id, caller, version)


def _saved(app_context: AppContext) -> SavedQueryService:
    return app_context.access.gateway.saved_queries


def _answer(saved: SavedQuery, caller: str, response: Response) -> SavedQueryAnswer:
    note(Details(target=str(saved.saved_query_id)))
    response.headers["ETag"] = f'"{saved.version}"'
    response.headers["Cache-Control"] = "no-store"
    return saved_query_answer(saved, caller)


def _version(if_match: str) -> int:
    tag = _VERSION_TAG.fullmatch(if_match.strip())
    if tag is None:
        raise InvalidRequest([Fault('it is not a version of a saved query, such as "7"', "/header/If-Match")])
    return int(tag[1])


def _token(last: SavedQuery) -> str:
    return page_token(QueryPosition(last.changed_at, last.saved_query_id))


def _position(token: str) -> SavedQueryPosition:
    position = position_of(token)
    return SavedQueryPosition(position.submitted_at, position.query_id)
