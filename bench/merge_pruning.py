"""A MERGE of 1 % of the keys into a partitioned fact, with and without dynamic filters.

This measures what `SLUICE_SQL_WRITE_PRUNING` saves. The fact has 200 days, one partition and one file each. A
batch of changes has the orders of two days with another amount, and some new ones. It is merged by day and
order: rows that match are updated, others are inserted. Each MERGE takes another batch, with
`dynamicFiltering.enabled` true and false in turn. The one without is what plain Spark does, with its own
pruning at run time. There are two facts, one that copies files and one that writes deletes beside them.
Before it copies files, Spark looks for those with matches, and prunes that search by partitions. So there is
nothing left to save in the first one. It does not prune a MERGE into the second one.
*Read* are the bytes that the engine's process has read from files during the statement, footers and manifests
included. The rows of both ways together are compared at the end with what the batches must leave.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure
from pyiceberg.partitioning import PartitionField, PartitionFieldValue, PartitionKey, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DecimalType, IntegerType, LongType, NestedField, StringType

from bench.asked import Asked, ask
from bench.client import Client
from bench.contest import CACHED, SPARK, Way
from bench.gateway_process import GatewayProcess, gateway_process
from bench.iceberg_files import Part, append_files
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, REMARKS, SCALE, open_catalog

DAYS, DAYS_OF_A_BATCH = 200, 2
ORDERS_OF_A_DAY = max(100, round(20_000 * min(SCALE, 1.0)))
WARM_UP, ROUNDS = (2, 5) if IS_FULL else (1, 2)
BATCHES = 2 * (WARM_UP + ROUNDS)
TARGET = 3.0
SCHEMA = "bench_merge"
MODES = ("copy-on-write", "merge-on-read")
KINDS = ("read", "statement", "files")
_FACT = Schema(
    NestedField(1, "day", IntegerType()),
    NestedField(2, "order_id", LongType()),
    NestedField(3, "amount", DecimalType(9, 2)),
    NestedField(4, "note", StringType()),
)
_BY_DAY = PartitionSpec(PartitionField(1, 1000, IdentityTransform(), "day"))
_CHANGES = pa.schema(
    {"batch": pa.int32(), "day": pa.int32(), "order_id": pa.int64(), "amount": pa.decimal128(9, 2)}
)


@dataclass(frozen=True, slots=True)
class _Taken:
    """A MERGE that has run, and the bytes that the engine's process has read during it."""

    asked: Asked
    read: int


def measure(lake: Lake) -> Measurement:
    """Returns bytes, times and files by way and kind of table."""
    samples: dict[str, dict[str, list[float]]] = {}
    settings = {"SLUICE_SQL_WRITES": "true", "SLUICE_SQL_WRITE_PRUNING": "true"}
    with gateway_process(lake.environment() | settings) as gateway:
        client = Client(gateway.url)
        for mode in MODES:
            _make_tables(lake, mode)
            batches = iter(range(BATCHES))
            for number in range(WARM_UP + ROUNDS):
                for way in (SPARK, CACHED) if number % 2 else (CACHED, SPARK):
                    taken = _merge(gateway, client, mode, next(batches), way)
                    if number >= WARM_UP:
                        _record(samples.setdefault(f"{mode}: {way.label}", {}), taken, mode)
            _check(client, mode)
    return Measurement(_rows(samples), samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the bytes of each way."""
    axes = figure.subplots()
    medians = {label: statistics.median(kinds["read"]) for label, kinds in measurement.samples.items()}
    axes.barh(list(medians), [read / 1e6 for read in medians.values()])
    axes.set(xscale="log", xlabel="MB read by one MERGE")


def _fact(mode: str) -> str:
    return f"fact_{mode.replace('-', '_')}"


def _make_tables(lake: Lake, mode: str) -> None:
    """Makes the fact again, since a MERGE changes it, and the changes if they are missing."""
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        name = f"{SCHEMA}.{_fact(mode)}"
        if catalog.table_exists(name):
            catalog.drop_table(name)
        properties = {"format-version": "2", "write.merge.mode": mode}
        fact = catalog.create_table(name, _FACT, partition_spec=_BY_DAY, properties=properties)
        with fact.transaction() as transaction:
            append_files(transaction, _files())
        changes = f"{SCHEMA}.changes"
        if catalog.table_exists(changes):
            catalog.drop_table(changes)
        catalog.create_table(changes, _CHANGES).append(_changes())


def _files() -> Iterator[Part]:
    for day in range(DAYS):
        ids = range(day * ORDERS_OF_A_DAY, (day + 1) * ORDERS_OF_A_DAY)
        rows = pa.table(
            {
                "day": pa.array([day] * len(ids), pa.int32()),
                "order_id": pa.array(ids, pa.int64()),
                "amount": pa.array([Decimal(id_ % 10_000) / 100 for id_ in ids], pa.decimal128(9, 2)),
                "note": pa.array([f"{id_ * 2_654_435_761 % 2**61:040x}" for id_ in ids], pa.large_string()),
            }
        )
        yield PartitionKey([PartitionFieldValue(_BY_DAY.fields[0], day)], _BY_DAY, _FACT), rows


def _changes() -> pa.Table:
    """The orders of each day with another amount, and one in a hundred that is new."""
    rows = [
        (day // DAYS_OF_A_BATCH, day, id_, Decimal(7))
        for day in range(BATCHES * DAYS_OF_A_BATCH)
        for first in [day * ORDERS_OF_A_DAY]
        for id_ in (
            *range(first, first + ORDERS_OF_A_DAY),
            *range(first + 10**9, first + 10**9 + ORDERS_OF_A_DAY // 100),
        )
    ]
    columns = [list(column) for column in zip(*rows, strict=True)]
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, _CHANGES.types, strict=True)],
        schema=_CHANGES,
    )


def _merge(gateway: GatewayProcess, client: Client, mode: str, batch: int, way: Way) -> _Taken:
    sql = (
        f"MERGE INTO {_fact(mode)} f USING (SELECT * FROM changes WHERE batch = {batch}) c "
        "ON f.day = c.day AND f.order_id = c.order_id "
        "WHEN MATCHED THEN UPDATE SET amount = c.amount "
        "WHEN NOT MATCHED THEN INSERT (day, order_id, amount) VALUES (c.day, c.order_id, c.amount)"
    )
    body: dict[str, Any] = {"sql": sql, "catalog": "lake", "schema": SCHEMA}
    jvm = gateway.jvm()
    before = jvm.io_counters().read_chars
    asked = ask(client, body | {"dynamicFiltering": way.dynamic_filtering})
    return _Taken(asked, jvm.io_counters().read_chars - before)


def _record(kinds: dict[str, list[float]], taken: _Taken, mode: str) -> None:
    values = (taken.read, taken.asked.took_ms, taken.asked.scan(_fact(mode), "dataFiles"))
    for kind, value in zip(KINDS, values, strict=True):
        kinds.setdefault(kind, []).append(value)


def _check(client: Client, mode: str) -> None:
    """Compares the fact with what all batches together must have left.

    Raises:
        RuntimeError: it has other rows.
    """
    days = BATCHES * DAYS_OF_A_BATCH
    new, updated = days * (ORDERS_OF_A_DAY // 100), days * ORDERS_OF_A_DAY
    sql = f"SELECT count(*) AS n FROM {_fact(mode)} WHERE amount = 7 AND day < {days}"
    found = ask(client, {"sql": f"{sql} HAVING n >= {new + updated}", "catalog": "lake", "schema": SCHEMA})
    total = ask(
        client,
        {
            "sql": f"SELECT count(*) AS n FROM {_fact(mode)} HAVING n = {DAYS * ORDERS_OF_A_DAY + new}",
            "catalog": "lake",
            "schema": SCHEMA,
        },
    )
    if (found.row_count, total.row_count) != (1, 1):
        raise RuntimeError(f"{_fact(mode)} has other rows than the merged batches leave.")


def _rows(samples: dict[str, dict[str, list[float]]]) -> list[Row]:
    rows: list[Row] = []
    for mode in MODES:
        plain, ours = (samples[f"{mode}: {way.label}"] for way in (SPARK, CACHED))
        rows += [_ratio(mode, kind, plain[kind], ours[kind]) for kind in KINDS[:2]]
    for label, kinds in samples.items():
        rows.append(spread(f"{label}: read", [read / 1e6 for read in kinds["read"]], "MB"))
        rows.append(spread(f"{label}: statement", kinds["statement"]))
        rows.append(spread(f"{label}: files of its scans", kinds["files"], ""))
    return [*rows, Row("rows of the fact", DAYS * ORDERS_OF_A_DAY, "")]


def _ratio(mode: str, kind: str, peer: list[float], ours: list[float]) -> Row:
    value = statistics.median(peer) / statistics.median(ours)
    ratios = [one / other for one, other in zip(peer, ours, strict=True)]
    is_asked = kind == "read"
    label = f"{mode}: {'bytes read' if is_asked else 'time'}, plain Spark to pruned"
    target = f"≥ {TARGET:g}" if is_asked else None
    return Row(label, value, "times", min(ratios), max(ratios), target, value >= TARGET if is_asked else None)
