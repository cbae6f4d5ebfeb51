"""TPC-DS in the bench's lakehouse, loaded once; `SLUICE_BENCH_SCALE` makes it smaller, for trials."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from pyiceberg.catalog.sql import SqlCatalog
from rich.console import Console

from api.bootstrap.parts.find_jars import TPCDS_PACKAGES
from api.cli.demonstration.demo_progress import progress_bar
from bench.lakehouse import Lake
from service.adapters.demo_data.tpcds.loader import load_tpcds
from service.adapters.demo_data.tpcds.tpcds_schemas import table_schemas
from spark_session.jars.jars import check_java, resolve

SCALE = float(os.environ.get("SLUICE_BENCH_SCALE", "1"))
IS_FULL = SCALE >= 1
SUFFIX = f"sf{SCALE:g}".replace(".", "")
SCHEMA = f"tpcds_{SUFFIX}"
TABLES: dict[str, Any] = {"catalog": "lake", "schema": SCHEMA}
# At a small scale every table is too small to be pruned by default.
PRUNED: dict[str, Any] = {} if IS_FULL else {"minTableBytes": 0}
REMARKS = () if IS_FULL else (f"Taken at scale {SCALE:g}, to try the measure: the figures say nothing.",)


@contextmanager
def open_catalog(lake: Lake) -> Iterator[SqlCatalog]:
    """Opens the lakehouse's catalog, under the name that the gateway knows it by."""
    with closing(SqlCatalog("lake", **lake.catalogs["lake"])) as catalog:
        yield catalog


def load(lake: Lake) -> None:
    """Loads all missing tables of the 24 into the schema."""
    jars = resolve(TPCDS_PACKAGES, lake.data_dir / "jars")
    folder = lake.data_dir / "tpcds"
    with open_catalog(lake) as catalog, progress_bar(Console(stderr=True)) as report:
        load_tpcds(catalog, SCHEMA, SCALE, tuple(table_schemas()), jars, check_java(), folder, report)
