"""Whether memory stays flat over ten thousand queries of fifty tables, with every cache on.

This measures whether the caches stay within their settings. There are 25 facts of 40 files and 25 dimensions
of 400 days. A query joins one of each for a month and a customer, so that 10,000 queries have about 9,000
texts. The caches have 16 MB each, which is less than all that is asked: they evict all the time. After each
500 queries the JVM collects its garbage, and memory is read as in the measure of ten statements. The slope is
a line fitted from the 2,500th query on; flat means that it comes to less than 10 % of the value there over
the remaining 7,500.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice

import orjson
import pyarrow as pa
from matplotlib.figure import Figure
from pyiceberg.io.pyarrow import schema_to_pyarrow
from rich.progress import track

from bench.client import Client
from bench.every_cache import EVERY_CACHE
from bench.gateway_process import gateway_process
from bench.iceberg_files import append_files, slices
from bench.jvm_memory import has_jcmd
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row
from bench.memory import RESULT_TTL_S, Point, draw_points, memory_point, memory_rows
from bench.tpcds_lake import IS_FULL, REMARKS, open_catalog

SCHEMA = "bench_fifty"
PAIRS, FILES, DAYS, ROWS = 25, 40, 400, 40_000
QUERIES, STEP, SETTLED = (10_000, 500, 2_500) if IS_FULL else (100, 25, 50)
CACHE_BYTES = 16 << 20
SETTINGS = {
    name: str(CACHE_BYTES) if name.endswith("_MAX_BYTES") else value for name, value in EVERY_CACHE.items()
} | {"SLUICE_RESULT_TTL_S": str(RESULT_TTL_S), "SLUICE_DYNAMIC_FILTERING_MIN_TABLE_BYTES": "0"}


def make_tables(lake: Lake) -> None:
    """Makes the missing tables; each appears as a whole."""
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(SCHEMA)
        for number in track(range(PAIRS), "fifty tables"):
            tables = {f"days_{number}": (_days(), 1), f"sales_{number}": (_sales(number), FILES)}
            for name, (rows, files) in tables.items():
                if not catalog.table_exists(f"{SCHEMA}.{name}"):
                    with catalog.create_table_transaction(f"{SCHEMA}.{name}", rows.schema) as transaction:
                        metadata = transaction.table_metadata
                        of_table = rows.cast(schema_to_pyarrow(metadata.schema()))
                        append_files(transaction, slices(metadata, of_table, files))


def measure(lake: Lake) -> Measurement:
    """Returns memory after each 500 queries, its slope, and the largest use of each cache."""
    largest: dict[str, tuple[int, int]] = {}
    with gateway_process({**lake.environment(), **SETTINGS}) as gateway:
        client = Client(gateway.url)
        points = [memory_point(gateway, 0)]
        texts = _texts()
        for asked in range(STEP, QUERIES + 1, STEP):
            for text in islice(texts, STEP):
                client.timed_query_ms({"sql": text, "catalog": "lake", "schema": SCHEMA})
            _note_caches(client, largest)
            client.close()
            points.append(memory_point(gateway, asked))
    remarks = () if has_jcmd() else ("No jcmd here: the JVM's garbage was not collected before readings.",)
    rows = [*memory_rows(points, SETTLED), *_cache_rows(largest)]
    return Measurement(rows, {"points": points, "caches": largest}, (*REMARKS, *remarks))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each kind of memory over the number of queries."""
    points: Sequence[Point] = measurement.samples["points"]
    draw_points(figure, points)


def _texts() -> Iterator[str]:
    for number in count():
        pair, month, customer = number % PAIRS, number * 7 % 13, number * 31 % 997
        yield (
            f"SELECT day_name, count(*) AS sales, sum(amount) AS amount FROM sales_{pair} "
            f"JOIN days_{pair} ON sales_{pair}.day = days_{pair}.day "
            f"WHERE month = {month} AND customer <> {customer} GROUP BY day_name"
        )


def _days() -> pa.Table:
    days = range(DAYS)
    return pa.table(
        {
            "day": pa.array(days, pa.int32()),
            "month": pa.array([day // 31 for day in days], pa.int32()),
            "day_name": pa.array([f"day {day % 7}" for day in days]),
        }
    )


def _sales(number: int) -> pa.Table:
    rows = range(ROWS)
    return pa.table(
        {
            "day": pa.array([row * DAYS // ROWS for row in rows], pa.int32()),
            "customer": pa.array([(row * 17 + number) % 997 for row in rows], pa.int64()),
            "amount": pa.array([row % 1_000 for row in rows], pa.int64()),
        }
    )


def _note_caches(client: Client, largest: dict[str, tuple[int, int]]) -> None:
    """Notes the largest bytes of each cache so far, with its bound."""
    _, answer = client.get("/caches")
    for cache in orjson.loads(answer)["caches"]:
        before, _ = largest.get(cache["name"], (0, 0))
        largest[cache["name"]] = max(before, cache["bytes"]), cache["maxBytes"]


def _cache_rows(largest: dict[str, tuple[int, int]]) -> list[Row]:
    return [
        Row(
            f"cache {name}: largest",
            used / (1 << 20),
            "MB",
            target=f"≤ {bound / (1 << 20):g} MB",
            is_met=used <= bound,
        )
        for name, (used, bound) in largest.items()
        if bound
    ]
