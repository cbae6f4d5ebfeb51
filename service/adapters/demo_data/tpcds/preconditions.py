"""Checks what may be loaded, and what an earlier load has left in a schema."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import get_close_matches

from pyiceberg.catalog import Catalog
from pyiceberg.exceptions import NoSuchNamespaceError

from service.adapters.demo_data.tpcds.tpcds_schemas import table_schemas
from service.errors.gateway_error import CallerError
from service.errors.table_errors import TableNotFound

SCALE_PROPERTY = "sluice.tpcds.scale"
"""Set in the commit that creates a table: the scale factor of its rows."""

SMALLEST_SCALE = 0.001
LARGEST_SCALE = 1000


def check_request(tables: Sequence[str], scale: float) -> None:
    """Checks that TPC-DS has these tables, and this generator this scale.

    Raises:
        CallerError: one of them is not available.
    """
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        raise CallerError(f"The scale is {scale:g}: it must be from {SMALLEST_SCALE} to {LARGEST_SCALE}.")
    known = list(table_schemas())
    for table in tables:
        if table not in known:
            raise TableNotFound(table, get_close_matches(table, known, n=3))


def loaded_tables(catalog: Catalog, schema: str, scale: float) -> Collection[str]:
    """Returns the TPC-DS tables that the schema holds at this scale.

    Raises:
        CallerError: one of them holds another scale, or was not loaded by this command.
    """
    try:
        names = {identifier[-1] for identifier in catalog.list_tables(schema)}
    except NoSuchNamespaceError:
        return ()
    there = sorted(names & table_schemas().keys())
    for table in there:
        _check_scale(catalog, f"{schema}.{table}", scale)
    return there


def scale_text(scale: float) -> str:
    """Returns the scale as it is stored in the table's properties.

    >>> scale_text(1.0), scale_text(0.1)
    ('1', '0.1')
    """
    return f"{scale:g}"


def _check_scale(catalog: Catalog, name: str, scale: float) -> None:
    found = catalog.load_table(name).properties.get(SCALE_PROPERTY)
    if found == scale_text(scale):
        return
    content = f"holds TPC-DS at scale {found}" if found else "was not loaded by this command"
    raise CallerError(f"The table {name} {content}: name another schema, or drop the table first.")
