"""A caller's queries."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from api.http.answers.page_token import page_token, position_of
from api.http.app_context import Caller, CallersAccess, CurrentAppContext
from api.http.routes.documented import problems
from api.http.schemas.queries.query_list import QueriesAnswer, QueriesQuery, listed_query
from service.model.query.history import QueryListing
from service.model.query.query import QueryState
from service.policies.require import administers
from service.query.query_service import QueryService

router = APIRouter(tags=["query"])
EVERYONE = "*"


@router.get("/query", responses=problems(422, 503))
async def list_queries(
    query: Annotated[QueriesQuery, Query()],
    app_context: CurrentAppContext,
    caller: Caller,
    access: CallersAccess,
) -> QueriesAnswer:
    """The caller's own queries, the newest first. One that has just ended may be missing for a moment.

    Who administers all tables by policies may name another `principal`, or `*` for the queries of all.
    """
    before = None if query.page_token is None else position_of(query.page_token)
    listed = query.principal or caller
    if listed != caller and not administers(access):
        return QueriesAnswer(queries=[], next_page_token=None)
    # The entry beyond the limit shows whether there is another page.
    listing = QueryListing(None if listed == EVERYONE else listed, query.limit + 1, query.state, before)
    return await app_context.access.call(_page, app_context.access.gateway.queries, listing, query.limit)


def _page(queries: QueryService, listing: QueryListing, limit: int) -> QueriesAnswer:
    found = queries.overview.list_queries(listing)
    shown = found[:limit]
    places = queries.overview.places(each.query_id for each in shown if each.state is QueryState.QUEUED)
    token = page_token(shown[-1].position) if len(found) > limit else None
    listed = [listed_query(summary, places.get(summary.query_id, summary.queue)) for summary in shown]
    return QueriesAnswer(queries=listed, next_page_token=token)
