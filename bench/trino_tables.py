"""The tables of TPC-DS under another schema, with the statistics of Trino."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError
from pyiceberg.table import Table

from bench.lakehouse import Lake
from bench.tpcds_lake import SCHEMA, open_catalog
from bench.trino_client import TrinoClient

ANALYZED = f"{SCHEMA}_analyzed"
ANALYZE_WITHIN_S = 1800.0


def register_tables(lake: Lake, names: Collection[str]) -> tuple[str, ...]:
    """Registers these tables again, and returns those that Trino must analyze.

    Statistics are part of a table's metadata. Under a schema of their own, the other measures do not get
    them. Tables that were analyzed before stay as they are, unless their data has changed.
    """
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(ANALYZED)
        return tuple(name for name in sorted(names) if _registers(catalog, name))


def _registers(catalog: SqlCatalog, name: str) -> bool:
    """Registers the table, unless it is there with statistics and the same data; returns whether it did."""
    origin = catalog.load_table((SCHEMA, name))
    with suppress(NoSuchTableError):
        if _is_analyzed(catalog.load_table((ANALYZED, name)), origin):
            return False
        catalog.drop_table((ANALYZED, name))
    catalog.register_table((ANALYZED, name), origin.metadata_location)
    return True


def _is_analyzed(table: Table, origin: Table) -> bool:
    snapshot = origin.metadata.current_snapshot_id
    analyzed = {found.snapshot_id for found in table.metadata.statistics}
    return table.metadata.current_snapshot_id == snapshot and (snapshot in analyzed)


def analyze(trino: TrinoClient, names: tuple[str, ...]) -> None:
    """Has Trino collect statistics of these tables.

    Without them, it orders joins so that its dynamic filters leave out nothing.
    """
    for name in names:
        trino.ask(f"ANALYZE {name}", ANALYZE_WITHIN_S)
