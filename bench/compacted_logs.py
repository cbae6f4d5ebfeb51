"""Reading one log type's column of a compacted wide table: width of write schemas, or full.

A table of 500 columns gets 50 log types of 40 columns each in small files, eight for each type, in two
copies. One copy is compacted with `SLUICE_MAINTENANCE_COMPACTION_WIDTH=WRITE_SCHEMA`, the other with `TABLE`.
Then a column of one log type is read from both in turn. CPU is that of the gateway and its JVM, from the
question to the answer.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import orjson
from matplotlib.figure import Figure

from bench.client import Client
from bench.gateway_process import GatewayProcess, gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, REMARKS, open_catalog
from bench.wide_logs import SHARED, log_types
from bench.wide_tables import make_table
from bench.writers import Projected

WIDTHS = ("WRITE_SCHEMA", "TABLE")
FILES = 8
ROWS = 5_000 if IS_FULL else 200
ROUNDS = 15 if IS_FULL else 3
WITHIN_S = 1_800.0
QUERY = "SELECT count({column}), max({column}) FROM {table} WHERE log_type = '{log_type}'"
EVERYWHERE = "SELECT count({column}), max({column}) FROM {table}"


def measure(lake: Lake) -> Measurement:
    """Returns the CPU of each question for both tables, and the sizes of the tables."""
    names = {width: f"compacted_{width.lower()}" for width in WIDTHS}
    tables = {width: _filled(lake, name) for width, name in names.items()}
    for width, table in tables.items():
        _compact(lake, width, table)
    samples = _asked(lake, tables)
    sizes = {width: _size(lake, name) for width, name in names.items()}
    rows = [row for kind in ("typed", "everywhere") for row in _rows(kind, samples[kind])]
    files = [
        Row(f"{width}: files, MB", sizes[width][0], f"files, {sizes[width][1] / 1e6:.1f} MB")
        for width in WIDTHS
    ]
    return Measurement([*rows, *files], {**samples, "sizes": sizes}, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws CPU by question and width."""
    axes = figure.subplots()
    kinds = ("typed", "everywhere")
    for place, width in enumerate(WIDTHS):
        values = [statistics.median(measurement.samples[kind][width]) for kind in kinds]
        axes.bar([at + place * 0.4 for at in range(len(kinds))], values, 0.4, label=width)
    axes.set_xticks([0.2, 1.2], ["of one log type", "of all rows"])
    axes.set_ylabel("CPU-seconds")
    axes.legend()


def _filled(lake: Lake, name: str) -> str:
    table = make_table(lake, name)
    with ExitStack() as stack:
        writer = Projected(lake, table, stack)
        for seed in range(FILES):
            writer.write([log_type.rows(ROWS, seed) for log_type in log_types()])
    return table


def _compact(lake: Lake, width: str, table: str) -> None:
    settings = {"SLUICE_MAINTENANCE_COMPACTION_WIDTH": width, "SLUICE_MAINTENANCE_INTERVAL_S": "0"}
    with gateway_process(lake.environment() | settings) as gateway:
        client = Client(gateway.url)
        status, answer = client.post(f"/tables/{table}/maintenance", b'{"operations": ["compact"]}')
        link = orjson.loads(answer)["links"]["self"]
        deadline = time.monotonic() + WITHIN_S
        while status == 202 and time.monotonic() < deadline:
            time.sleep(0.5)
            status, answer = client.get(link)
        client.close()
    if orjson.loads(answer)["state"] != "SUCCEEDED":
        raise RuntimeError(f"{status}: {answer[:500]!r}")


def _asked(lake: Lake, tables: Mapping[str, str]) -> dict[str, dict[str, list[float]]]:
    log_type = log_types()[7]
    values = {
        "column": next(column for column in log_type.columns if column not in SHARED),
        "log_type": log_type.name,
    }
    samples: dict[str, dict[str, list[float]]] = {
        kind: {width: [] for width in WIDTHS} for kind in ("typed", "everywhere")
    }
    with gateway_process(lake.environment() | {"SLUICE_LOCAL_RELATION_MAX_ROWS": "0"}) as gateway:
        client = Client(gateway.url)
        for turn in range(ROUNDS + 3):
            for kind, sql in (("typed", QUERY), ("everywhere", EVERYWHERE)):
                for width, table in list(tables.items())[:: 1 if turn % 2 else -1]:
                    cpu_s = _cpu_of(gateway, client, {"sql": sql.format(table=table, **values)})
                    if turn >= 3:
                        samples[kind][width].append(cpu_s)
        client.close()
    return samples


def _cpu_of(gateway: GatewayProcess, client: Client, body: dict[str, Any]) -> float:
    before = _cpu_s(gateway)
    status, answer = client.query(body)
    if status != 200:
        raise RuntimeError(f"{status}: {answer[:500]!r}")
    return _cpu_s(gateway) - before


def _cpu_s(gateway: GatewayProcess) -> float:
    found = [process.cpu_times() for process in (gateway.process, gateway.jvm())]
    return sum(times.user + times.system for times in found)


def _rows(kind: str, ways: Mapping[str, list[float]]) -> list[Row]:
    title = {"typed": "a column of one log type", "everywhere": "a column of all rows"}[kind]
    ratios = [wide / own for wide, own in zip(ways["TABLE"], ways["WRITE_SCHEMA"], strict=True)]
    ratio = statistics.median(ways["TABLE"]) / statistics.median(ways["WRITE_SCHEMA"])
    return [
        *(spread(f"{title}, {width}", [value * 1000 for value in ways[width]]) for width in WIDTHS),
        Row(f"{title}: full width's CPU", ratio, "times", min(ratios), max(ratios)),
    ]


def _size(lake: Lake, name: str) -> tuple[int, int]:
    with open_catalog(lake) as catalog:
        snapshot = catalog.load_table(f"bench_ingest.{name}").current_snapshot()
    assert snapshot is not None
    assert snapshot.summary is not None
    return int(snapshot.summary["total-data-files"] or 0), int(snapshot.summary["total-files-size"] or 0)
