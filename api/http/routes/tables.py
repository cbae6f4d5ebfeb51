"""The tables that can be queried."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.http.app_context import CallersAccess, CurrentAppContext
from api.http.requests.table_name import FULL_NAME, table_name
from api.http.routes.documented import problems
from api.http.schemas.tables import NoQuery, TableAnswer, TablesAnswer, TablesQuery, table_answer, table_entry
from service.model.policies.actions import Action
from service.policies.require import may, require
from service.policies.shown_counts import shows_counts, without_row_counts

router = APIRouter(tags=["tables"])


@router.get("/tables", responses=problems(422, 503))
async def list_tables(
    query: Annotated[TablesQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> TablesAnswer:
    """Every table that the caller may know of, by name. A catalog that does not answer is named instead."""
    found = await app_context.access.call(app_context.access.gateway.tables, query.catalog, query.schema_)
    entries = [table_entry(table) for table in found.tables if may(access, Action.DESCRIBE, table)]
    return TablesAnswer(tables=entries, missing_catalogs=list(found.missing))


@router.get("/tables/{name}", responses=problems(403, 404, 409, 422, 503))
async def get_table(
    name: Annotated[
        str,
        Path(max_length=1024, description="catalog.schema.table", json_schema_extra={"pattern": FULL_NAME}),
    ],
    _: Annotated[NoQuery, Query()],
    app_context: CurrentAppContext,
    access: CallersAccess,
) -> TableAnswer:
    """One table: its columns, partition spec, sort order and snapshots.

    A caller who may not see every row gets no numbers of rows, files and bytes.
    """
    require(access, Action.DESCRIBE, table_name(name))
    facts = await app_context.access.call(app_context.access.gateway.table, table_name(name))
    return table_answer(facts if shows_counts(access, facts.name) else without_row_counts(facts))
