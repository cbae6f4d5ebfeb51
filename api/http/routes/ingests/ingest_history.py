"""The history of ingests: a caller's own, and the cost of all of them by table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query

from api.http.answers.page_token import page_token, position_of
from api.http.app_context import Caller, CallersAccess, CurrentAppContext
from api.http.routes.documented import problems
from api.http.schemas.ingests.ingest_list import IngestsAnswer, IngestsQuery, listed_ingest
from api.http.schemas.ingests.ingest_summary import (
    IngestSummaryAnswer,
    IngestSummaryQuery,
    ingest_summary_answer,
)
from service.model.ingest.ingest import IngestRecord
from service.model.ingest.ingest_history import IngestListing, IngestPosition
from service.model.query.history import QueryPosition
from service.model.tables.tables import TableName
from service.policies.shown_counts import shows_writes

router = APIRouter(tags=["ingest"])


@router.get("/ingest", responses=problems(422, 503))
async def list_ingests(
    query: Annotated[IngestsQuery, Query()], app_context: CurrentAppContext, caller: Caller
) -> IngestsAnswer:
    """The caller's own ingests, the newest first, for as long as the log has them."""
    before = None if query.page_token is None else _position(query.page_token)
    # The entry beyond the limit shows whether there is another page.
    listing = IngestListing(caller, query.limit + 1, query.state, before)
    return _page(await app_context.access.call(app_context.access.gateway.ingests.list, listing), query.limit)


@router.get("/ingest/summary", responses=problems(422, 503))
async def ingest_summary(
    query: Annotated[IngestSummaryQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> IngestSummaryAnswer:
    """For each table: what was written, what waits or failed, and how long its commit rounds took.

    It has the tables that the caller may know of, without those whose rows policies hide from it.
    """
    found = await app_context.access.call(
        app_context.access.gateway.ingests.summary, query.since, query.table
    )
    known = [table for table in found.tables if shows_writes(access, TableName.of(table.table))]
    return ingest_summary_answer(replace(found, tables=known))


def _page(found: Sequence[IngestRecord], limit: int) -> IngestsAnswer:
    shown = found[:limit]
    last = shown[-1] if len(found) > limit else None
    token = None if last is None else page_token(QueryPosition(last.accepted_at, last.ingest_id))
    return IngestsAnswer(ingests=[listed_ingest(record) for record in shown], next_page_token=token)


def _position(token: str) -> IngestPosition:
    position = position_of(token)
    return IngestPosition(position.submitted_at, position.query_id)
