"""A table of a million rows and ten columns, which clients read as a whole."""

from __future__ import annotations

import pyarrow as pa

from bench import hive_columns
from bench.lakehouse import Lake
from bench.tpcds_lake import SCALE, open_catalog

ROWS = round(hive_columns.ROWS * min(SCALE, 1.0))
FILES = 8
SCHEMA, TABLE = "bench_read", f"rows_{ROWS}"
NAME = f"lake.{SCHEMA}.{TABLE}"
FIRST = "c_bigint"
"""A column without negative numbers."""
# Otherwise one task would read all of it.
PROPERTIES = {"format-version": "2", "read.split.target-size": str(8 << 20)}


def make_table(lake: Lake) -> None:
    """Makes it, if it is missing; an interrupted call leaves no table."""
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        if catalog.table_exists(f"{SCHEMA}.{TABLE}"):
            return
        rows = _rows()
        with catalog.create_table_transaction(
            f"{SCHEMA}.{TABLE}", rows.schema, properties=PROPERTIES
        ) as transaction:
            step = -(-ROWS // FILES)
            for start in range(0, ROWS, step):
                transaction.append(rows.slice(start, step))


def _rows() -> pa.Table:
    rows = hive_columns.columns().slice(0, ROWS)
    # Iceberg has no smaller integers.
    rows = rows.set_column(2, "smallint", rows["smallint"].cast(pa.int32()))
    return rows.rename_columns([f"c_{name.replace(' ', '_')}" for name in rows.column_names])
