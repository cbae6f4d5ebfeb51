"""50 write schemas in each of 20 requests at once: one snapshot.

This measures whether the number of snapshots depends on the number of write schemas and callers. 20 clients
send at once, each one record for each of 50 log types in 40 of 500 columns: a thousand write results. There
are five rounds, into a table that has no other writers. A commit waits for ingests that are being written,
for as long as `SLUICE_INGEST_COMMIT_INTERVAL_MS` allows: 60 s here.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
from matplotlib.figure import Figure

from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, REMARKS, open_catalog
from bench.wide_logs import LogType, log_types
from bench.wide_tables import make_table

CLIENTS = 20
ROUNDS = 5 if IS_FULL else 2
SETTINGS = {"SLUICE_INGEST_COMMIT_INTERVAL_MS": "60000"}


def measure(lake: Lake) -> Measurement:
    """Returns the snapshots of each round, and its time."""
    table = make_table(lake, "one_round")
    body = orjson.dumps({"writes": [_write(table, log_type) for log_type in log_types()]})
    snapshots: list[int] = []
    took_ms: list[float] = []
    with gateway_process(lake.environment() | SETTINGS) as gateway, open_catalog(lake) as catalog:
        for _ in range(ROUNDS):
            began = time.perf_counter()
            answers = _send_at_once(gateway.url, body)
            took_ms.append((time.perf_counter() - began) * 1000)
            found = {answer["commits"][0]["snapshotId"] for answer in answers}
            made = len(catalog.load_table(table.removeprefix("lake.")).snapshots())
            snapshots.append(max(len(found), made - sum(snapshots)))
        rows = catalog.load_table(table.removeprefix("lake.")).current_snapshot()
    total = 0 if rows is None or rows.summary is None else int(rows.summary["total-records"] or 0)
    return Measurement(_rows(snapshots, took_ms, total), {"snapshots": snapshots, "ms": took_ms}, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws snapshots by round."""
    axes = figure.subplots()
    values = measurement.samples["snapshots"]
    axes.bar(range(1, len(values) + 1), values)
    axes.set(xlabel="round", ylabel="snapshots")


def _write(table: str, log_type: LogType) -> dict[str, Any]:
    [record] = log_type.rows(1, 1).to_pylist()
    record["event_time"] = record["event_time"].isoformat()
    return {"table": table, "writeSchema": log_type.columns, "records": [record]}


def _send_at_once(url: str, body: bytes) -> Sequence[dict[str, Any]]:
    together = threading.Barrier(CLIENTS)

    def send(_: int) -> dict[str, Any]:
        client = Client(url)
        together.wait()
        status, answer = client.post("/ingest", body)
        client.close()
        found: dict[str, Any] = orjson.loads(answer)
        if status != 200 or found["state"] != "COMMITTED":
            raise RuntimeError(f"{status}: {answer[:500]!r}")
        return found

    with ThreadPoolExecutor(CLIENTS) as clients:
        return list(clients.map(send, range(CLIENTS)))


def _rows(snapshots: Sequence[int], took_ms: Sequence[float], total: int) -> Sequence[Row]:
    wanted = ROUNDS * CLIENTS * len(log_types())
    return [
        Row(
            "snapshots of a round",
            max(snapshots),
            "",
            min(snapshots),
            max(snapshots),
            "exactly 1",
            set(snapshots) == {1},
        ),
        Row("records in the table", total, "", target=f"{wanted:,}", is_met=total == wanted),
        spread("until all 20 are answered", took_ms),
    ]
