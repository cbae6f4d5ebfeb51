"""What can be queried: catalogs, schemas, tables and views."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.http.answers.page_token import name_of_token, name_token
from api.http.app_context import CallersAccess, CurrentAppContext
from api.http.requests.table_name import FULL_NAME, table_name
from api.http.routes.documented import problems
from api.http.schemas.tables.table_schemas import (
    CatalogEntry,
    CatalogsAnswer,
    NoQuery,
    SchemasAnswer,
    SchemasQuery,
    TableAnswer,
    TablesAnswer,
    TablesQuery,
    listed_table,
    schemas_answer,
    table_answer,
)
from service.browsing.catalog_browser import RelationQuery
from service.errors.unavailable import EngineNotReady, MetricsStoreDown
from service.gateway import Gateway
from service.model.policies.actions import Action
from service.model.policies.decisions import Access
from service.model.query.history import TablePruning
from service.model.tables.contents import AcceptedColumn
from service.model.tables.tables import TableFacts, TableName
from service.policies.require import require
from service.policies.shown_counts import shows_counts, without_row_counts
from service.policies.shown_identifiers import shown_identifier_fields

router = APIRouter(tags=["tables"])


@router.get("/catalogs", responses=problems(422, 503))
async def list_catalogs(
    _: Annotated[NoQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> CatalogsAnswer:
    """Every catalog that the caller may know of, by name. No catalog is asked."""
    names = app_context.access.gateway.browser.catalogs(access)
    return CatalogsAnswer(catalogs=[CatalogEntry(name=name) for name in names])


@router.get("/schemas", responses=problems(422, 503))
async def list_schemas(
    query: Annotated[SchemasQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> SchemasAnswer:
    """Every schema that the caller may know of, by name, also those without tables."""
    browser = app_context.access.gateway.browser
    return schemas_answer(await app_context.access.call(browser.schemas, query.catalog, access))


@router.get("/tables", responses=problems(422, 503))
async def list_tables(
    query: Annotated[TablesQuery, Query()], app_context: CurrentAppContext, access: CallersAccess
) -> TablesAnswer:
    """Every table and view that the caller may know of, by name. A catalog that does not answer is named."""
    after = None if query.page_token is None else name_of_token(query.page_token)
    asked = RelationQuery(query.catalog, query.schema_, query.page_size, after, query.columns)
    found = await app_context.access.call(app_context.access.gateway.browser.relations, asked, access)
    last = found.entries[-1].name if found.has_more and found.entries else None
    return TablesAnswer(
        tables=[listed_table(entry) for entry in found.entries],
        missing_catalogs=list(found.missing),
        next_page_token=None if last is None else name_token(last),
    )


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
    """One table: its columns, partition spec, sort order and snapshots, and which filters it accepts.

    A caller who may not see every row gets no numbers of rows, files and bytes, and nothing of how the table
    was pruned. Which columns are clustered is found in the background: a later answer knows more.
    """
    require(access, Action.DESCRIBE, table_name(name))
    gateway = app_context.access.gateway
    facts = await app_context.access.call(gateway.table, table_name(name))
    facts = replace(facts, identifier_fields=shown_identifier_fields(facts, access))
    accepted = await app_context.access.call(_accepted, gateway, facts, access)
    if not shows_counts(access, facts.name):
        return table_answer(without_row_counts(facts), accepted)
    return table_answer(facts, accepted, await app_context.access.call(_pruning, gateway, facts.name))


def _accepted(gateway: Gateway, facts: TableFacts, access: Access) -> list[AcceptedColumn]:
    with suppress(EngineNotReady):
        return list(gateway.browser.accepted(facts, access))
    return []


def _pruning(gateway: Gateway, table: TableName) -> TablePruning | None:
    try:
        return gateway.queries.overview.recent_pruning(table)
    except MetricsStoreDown:
        # The table itself is known without it.
        return None
