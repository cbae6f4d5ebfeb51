"""What can be queried."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query

from api.edge import EdgeOfApp
from api.errors import Fault, InvalidRequest
from api.routes.documented import problems
from api.schemas.tables import NoQuery, TableAnswer, TablesAnswer, TablesQuery, table_answer, table_entry
from service.model.kept_texts import text_fault
from service.model.tables.tables import TableName

router = APIRouter(tags=["tables"])

FULL_NAME = r"^[^.\x00]+(\.[^.\x00]+){2,}$"
"""Described only: `table_name` refuses others in better words."""


@router.get("/tables", responses=problems(422, 503))
async def list_tables(query: Annotated[TablesQuery, Query()], edge: EdgeOfApp) -> TablesAnswer:
    """Every table of the catalogs, in order of name. A catalog that does not answer is named instead."""
    found = await edge.door.call(edge.door.gateway.tables, query.catalog, query.schema_)
    entries = [table_entry(each) for each in found.tables]
    return TablesAnswer(tables=entries, missing_catalogs=list(found.missing))


@router.get("/tables/{name}", responses=problems(404, 409, 422, 503))
async def get_table(
    name: Annotated[
        str,
        Path(max_length=1024, description="catalog.schema.table", json_schema_extra={"pattern": FULL_NAME}),
    ],
    _: Annotated[NoQuery, Query()],
    edge: EdgeOfApp,
) -> TableAnswer:
    """One table: its columns, partition spec, sort order and snapshots."""
    return table_answer(await edge.door.call(edge.door.gateway.table, table_name(name)))


def table_name(dotted: str, pointer: str = "/path/name") -> TableName:
    """The name in its parts; between catalog and table, a schema may have several levels.

    >>> table_name("lake.sales.eu.orders")
    TableName(catalog='lake', schema='sales.eu', table='orders')

    Raises:
        InvalidRequest: it has fewer than three parts, or an empty one, or what no catalog can be asked for.
    """
    if fault := text_fault(dotted):
        raise InvalidRequest([Fault(f"a table's name {fault}", pointer)])
    parts = dotted.split(".")
    if len(parts) < 3 or not all(parts):
        raise InvalidRequest([Fault("a table's full name is catalog.schema.table", pointer)])
    return TableName(parts[0], ".".join(parts[1:-1]), parts[-1])
