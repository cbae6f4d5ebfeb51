"""A table of very many small files, as a stream leaves them, and the small dimension of its days."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
from pyiceberg.catalog import Catalog
from pyiceberg.partitioning import PartitionField, PartitionFieldValue, PartitionKey, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.table import Table
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DecimalType, IntegerType, LongType, NestedField
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from bench.iceberg_files import Part, append_files
from bench.lakehouse import Lake
from bench.tpcds_lake import SCALE, open_catalog

MANIFESTS, DAYS_EACH = 100, 10
FILES_OF_A_DAY = max(1, round(100 * min(SCALE, 1.0)))
FILES = MANIFESTS * DAYS_EACH * FILES_OF_A_DAY
ROWS_OF_A_FILE = 10
SCHEMA = "bench_files"
EVENTS, PERIODS = f"events_{FILES}", "periods"

_EVENTS = Schema(
    NestedField(1, "event_day", IntegerType()),
    NestedField(2, "event_id", LongType()),
    NestedField(3, "amount", DecimalType(9, 2)),
)
_BY_DAY = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "event_day"))


def make_tables(lake: Lake) -> None:
    """Makes both; an interrupted call leaves its tables, and the next one continues from there."""
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        _make_periods(catalog)
        events = catalog.create_table_if_not_exists(
            f"{SCHEMA}.{EVENTS}", _EVENTS, partition_spec=_BY_DAY, properties={"format-version": "2"}
        )
        first = len(events.snapshots())
        if first < MANIFESTS:
            _append_all(events, first)


def _make_periods(catalog: Catalog) -> None:
    """A period is the ten days of one manifest: 1 % of all files."""
    if catalog.table_exists(f"{SCHEMA}.{PERIODS}"):
        return
    days = range(MANIFESTS * DAYS_EACH)
    rows = pa.table(
        {
            "day": pa.array(days, pa.int32()),
            "period": pa.array([day // DAYS_EACH for day in days], pa.int32()),
        }
    )
    with catalog.create_table_transaction(f"{SCHEMA}.{PERIODS}", rows.schema) as transaction:
        transaction.append(rows)


def _append_all(events: Table, first: int) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns) as bar:
        task = bar.add_task("data files", total=FILES, completed=first * DAYS_EACH * FILES_OF_A_DAY)
        for number in range(first, MANIFESTS):
            with events.transaction() as transaction:
                append_files(transaction, _files(number))
            bar.advance(task, DAYS_EACH * FILES_OF_A_DAY)


def _files(manifest: int) -> Iterator[Part]:
    for day in range(manifest * DAYS_EACH, (manifest + 1) * DAYS_EACH):
        key = PartitionKey([PartitionFieldValue(_BY_DAY.fields[0], day)], _BY_DAY, _EVENTS)
        for number in range(FILES_OF_A_DAY):
            yield key, _rows(day, number)


def _rows(day: int, number: int) -> pa.Table:
    first = (day * FILES_OF_A_DAY + number) * ROWS_OF_A_FILE
    ids = range(first, first + ROWS_OF_A_FILE)
    return pa.table(
        {
            "event_day": pa.array([day] * ROWS_OF_A_FILE, pa.int32()),
            "event_id": pa.array(ids, pa.int64()),
            "amount": pa.array([Decimal(id_ % 10_000) / 100 for id_ in ids], pa.decimal128(9, 2)),
        }
    )
