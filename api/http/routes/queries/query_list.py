"""A caller's queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query

from api.http.answers.page_token import page_token, position_of
from api.http.app_context import Caller, CallersAccess, CurrentAppContext
from api.http.routes.documented import problems
from api.http.schemas.queries.query_list import QueriesAnswer, QueriesQuery, listed_query
from service.model.query.history import QueryListing, QuerySummary
from service.policies.require import administers

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
    return _page(
        await app_context.access.call(app_context.access.gateway.queries.list_queries, listing), query.limit
    )


def _page(found: Sequence[QuerySummary], limit: int) -> QueriesAnswer:
    shown = found[:limit]
    token = page_token(shown[-1].position) if len(found) > limit else None
    return QueriesAnswer(queries=[listed_query(summary) for summary in shown], next_page_token=token)
