"""The star queries of TPC-DS while a table of theirs is committed to each second.

This measures whether filters, rows in memory and plans outlive commits. Twelve star queries over TPC-DS at
scale 1 are asked of one gateway with every cache on, in three ways that take turns: while nothing is written,
while sales are appended each second, and while days are appended that no query asks for. The gateway looks
for commits each second, and refreshes the sets that are asked for most before the next query. The tables are
registered once more under another schema, so that the other measures do not see the commits. Before a way is
timed, its commits go on for as long as one round. Six rounds warm up, seven count. A ratio is the median
without commits to the one with them; 1 means that commits cost nothing. The commits share the machine's cores
with the queries, in a process of their own.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import pyarrow as pa
from matplotlib.figure import Figure
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError

from bench.asked import Asked, ask
from bench.client import Client
from bench.every_cache import EVERY_CACHE
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.ratios import draw_ratios
from bench.tpcds_lake import IS_FULL, PRUNED, REMARKS, SCHEMA, open_catalog
from bench.tpcds_texts import STARS, tpcds_texts

WARM_UP, ROUNDS = (6, 7) if IS_FULL else (1, 2)
TARGET, TARGET_KEPT_PERCENT = 0.9, 99.0
EVERY_S = 1.0
COMMITTED = f"{SCHEMA}_committed"
QUIET, FACT, DIMENSION = "no commits", "a fact committed to", "a dimension committed to"
TABLES_OF = {FACT: "store_sales", DIMENSION: "date_dim"}
FAR_DAY, FAR_YEAR = 9_999_999, 2199
REFRESHED = {
    "SLUICE_DYNAMIC_FILTERING_PREFETCHED_SETS": "16",
    "SLUICE_DYNAMIC_FILTERING_PREFETCH_INTERVAL_S": "1",
}
KEPT = frozenset({"CACHED", "CARRIED_OVER", "CONTAINED"})


def make_tables(lake: Lake) -> None:
    """Registers the tables of TPC-DS again, as they are now."""
    with open_catalog(lake) as catalog:
        catalog.create_namespace_if_not_exists(COMMITTED)
        for _, name in catalog.list_tables(SCHEMA):
            with suppress(NoSuchTableError):
                catalog.drop_table((COMMITTED, name))
            location = catalog.load_table((SCHEMA, name)).metadata_location
            catalog.register_table((COMMITTED, name), location)


def measure(lake: Lake) -> Measurement:
    """Returns times by query and way, and where the filters' keys came from."""
    texts = {name: text for name, text in tpcds_texts(lake).items() if name in STARS}
    samples: dict[str, dict[str, list[float]]] = {
        name: {way: [] for way in (QUIET, *TABLES_OF)} for name in texts
    }
    sources: dict[str, Counter[str]] = {way: Counter() for way in (QUIET, *TABLES_OF)}
    with gateway_process({**lake.environment(), **EVERY_CACHE, **REFRESHED}) as gateway:
        client = Client(gateway.url)
        for number in range(WARM_UP + ROUNDS):
            for way in (QUIET, *TABLES_OF) if number % 2 else (*TABLES_OF, QUIET):
                with _commits(lake, TABLES_OF.get(way)):
                    found = _round(client, texts, way)
                if number >= WARM_UP:
                    for name, asked in found.items():
                        samples[name][way].append(asked.took_ms)
                        sources[way].update(_sources(asked))
    return Measurement(_rows(samples, sources), samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each query's ratio while the dimension is committed to."""
    draw_ratios(figure.subplots(), _ratios(measurement.samples, DIMENSION), (TARGET,))


def _round(client: Client, texts: Mapping[str, str], way: str) -> dict[str, Asked]:
    """Asks all queries once; while commits go on, only the second time counts."""
    found: dict[str, Asked] = {}
    for _ in range(1 if way == QUIET else 2):
        for name, text in texts.items():
            body = {"sql": text, "catalog": "lake", "schema": COMMITTED, "dynamicFiltering": PRUNED}
            found[name] = ask(client, body)
    return found


@contextmanager
def _commits(lake: Lake, table: str | None) -> Iterator[None]:
    """Commits to the table each second in a process of its own, if there is a table."""
    if table is None:
        yield
        return
    process = multiprocessing.get_context("spawn").Process(target=commit, args=(lake, table), daemon=True)
    process.start()
    try:
        yield
        if process.exitcode is not None:
            raise RuntimeError(f"the commits to {table} ended with {process.exitcode}")
    finally:
        process.kill()
        process.join()


def commit(lake: Lake, name: str) -> None:
    """Appends one row each second, until the process ends."""
    with open_catalog(lake) as catalog:
        while True:
            began = time.monotonic()
            _append(catalog, name)
            time.sleep(max(0.0, EVERY_S - (time.monotonic() - began)))


def _append(catalog: SqlCatalog, name: str) -> None:
    table = catalog.load_table((COMMITTED, name))
    schema = table.schema().as_arrow()
    row: dict[str, Any] = dict.fromkeys(schema.names)
    if name == TABLES_OF[DIMENSION]:
        row |= {
            "d_date_sk": FAR_DAY,
            "d_date_id": "FAR",
            "d_year": FAR_YEAR,
            "d_moy": 1,
            "d_dom": 28,
            "d_dow": 3,
        }
    else:
        row |= {"ss_sold_date_sk": FAR_DAY, "ss_item_sk": 1, "ss_ticket_number": 1}
    table.append(pa.Table.from_pylist([row], schema))


def _sources(asked: Asked) -> list[str]:
    return [filter_["source"] for filter_ in asked.explanation["filters"] if filter_["applied"]]


def _ratios(samples: Mapping[str, Mapping[str, list[float]]], way: str) -> dict[str, float]:
    return {
        name: statistics.median(ways[QUIET]) / statistics.median(ways[way]) for name, ways in samples.items()
    }


def _rows(samples: Mapping[str, Mapping[str, list[float]]], sources: Mapping[str, Counter[str]]) -> list[Row]:
    rows = []
    for way in TABLES_OF:
        found = _ratios(samples, way)
        mean = statistics.geometric_mean(list(found.values()))
        least = min(found, key=lambda name: found[name])
        kept = 100 * sum(sources[way][source] for source in KEPT) / max(1, sources[way].total())
        rows += [
            Row(f"{way}: geometric mean", mean, "times", target=f"≥ {TARGET:g}", is_met=mean >= TARGET),
            Row(f"{way}: smallest ({least})", found[least], "times"),
            Row(
                f"{way}: filters without a collection",
                kept,
                "%",
                target=f"≥ {TARGET_KEPT_PERCENT:g} %",
                is_met=kept >= TARGET_KEPT_PERCENT,
            ),
            *(Row(f"{way}: filters {source}", count, "") for source, count in sources[way].items()),
        ]
    return [
        *rows,
        *(spread(f"{name}: {way}", times) for name, ways in samples.items() for way, times in ways.items()),
    ]
