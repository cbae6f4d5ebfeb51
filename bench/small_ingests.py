"""Eight clients send small ingests to one table for a minute.

This measures how many ingests of 100 rows a gateway acknowledges in a second. Eight clients, in a process of
their own, send ingests of 100 JSON records with 40 of 500 columns, each the next one as soon as it has its
answer. First they send `wait: ACCEPTED`: an answer means that the ingest is durable, and its commit follows
in a round. Then, to another table, they send `wait: COMMITTED`: an answer means that it is in a snapshot. The
target is for the first: a client that waits for a snapshot sends nothing in that time, so the length of a
round limits eight of them. The measure also reports how long the rounds took for the rest after the last
answer. Then every row is counted, and `GET /ingest/summary` reports the rounds. A row that is in no snapshot
then is lost.

The limit is that one Python process computes one thing at a time. `perf` shows 13 ms of CPU for each ingest:
two fifths in Python's interpreter, a quarter in the kernel, a fifth in Arrow and Parquet, and the rest in
memory and JSON. The kernel mostly switches between threads, 150 times an ingest: each call of Arrow, of the
disk or of PostgreSQL lets another thread run. One ingest by itself, from its body to synced files, takes 7.4.
The machine's speed differs by a third from one quarter of an hour to the next: runs of one morning gave 69,
95, and after small changes 88 and 114 in a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, replace
from http.client import HTTPException
from typing import Any

import orjson
from matplotlib.figure import Figure

from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.load import SPAWN
from bench.measurement import Measurement, Row, percentile, spread
from bench.tpcds_lake import IS_FULL, REMARKS, SCALE, open_catalog
from bench.wide_logs import log_types
from bench.wide_tables import make_table

CLIENTS, ROWS = 8, 100
SECONDS = 60.0 if IS_FULL else max(3.0, 60 * SCALE)
WARM_UP_S = 5.0 if IS_FULL else 1.0
COMMITTED_WITHIN_S = 120.0
TARGET = 100.0
WAITS = {"ACCEPTED": 202, "COMMITTED": 200}
"""The event that a client waits for, and the status that reports it."""

Sent = tuple[list[tuple[float, float]], list[str]]
"""For each answer its second since the start, and its milliseconds; then errors."""


@dataclass(frozen=True, slots=True)
class _Run:
    """The results of one way of waiting."""

    answers: Sequence[tuple[float, float]]
    errors: Sequence[str]
    rounds: Mapping[str, Any]
    left_s: float
    lost: int
    snapshots: int


def measure(lake: Lake) -> Measurement:
    """Returns ingests per second, their times, and the rounds that they became."""
    tables = {wait: make_table(lake, f"small_{wait.lower()}") for wait in WAITS}
    with (
        gateway_process(lake.environment()) as gateway,
        ProcessPoolExecutor(1, mp_context=SPAWN) as clients,
    ):
        runs = {wait: _run(lake, gateway.url, clients, table, wait) for wait, table in tables.items()}
    samples = {
        wait: {"answers": run.answers, "errors": run.errors, "rounds": run.rounds}
        for wait, run in runs.items()
    }
    rows = [row for wait, run in runs.items() for row in _rows(wait, run)]
    return Measurement(rows, samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws ingests in each second, and how long they took."""
    left, right = figure.subplots(1, 2)
    for wait, samples in measurement.samples.items():
        answers = samples["answers"]
        seconds = [answer[0] for answer in answers]
        left.hist(seconds, bins=max(1, int(SECONDS)), histtype="step", label=wait)
        right.plot(seconds, [answer[1] for answer in answers], ".", markersize=2, label=wait)
    left.axhline(TARGET, color="grey", linestyle=":")
    left.set(xlabel="second", ylabel="ingests acknowledged")
    left.legend()
    right.set(xlabel="second", ylabel="ms")
    right.set_ylim(bottom=0)


def send_for(url: str, body: bytes, status: int, clients: int, seconds: float) -> Sent:
    """Sends the body again and again from `clients` clients, which expect this status."""
    answers: list[tuple[float, float]] = []
    errors: list[str] = []
    started = time.monotonic()

    def send() -> None:
        client = Client(url)
        while (began := time.monotonic()) < started + seconds:
            try:
                found, answer = client.post("/ingest", body)
                if found != status:
                    errors.append(f"{found}: {answer[:200]!r}")
                    continue
            except (OSError, HTTPException) as failure:
                errors.append(str(failure))
                continue
            ended = time.monotonic()
            answers.append((ended - started, (ended - began) * 1000))
        client.close()

    threads = [threading.Thread(target=send) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers, errors


def _run(lake: Lake, url: str, clients: Executor, table: str, wait: str) -> _Run:
    body, status = _body(table, wait), WAITS[wait]
    warm_up, _ = clients.submit(send_for, url, body, status, CLIENTS, WARM_UP_S).result()
    _committed(url, table)
    answers, errors = clients.submit(send_for, url, body, status, CLIENTS, SECONDS).result()
    left_s, summary = _committed(url, table)
    with open_catalog(lake) as catalog:
        opened = catalog.load_table(table.removeprefix("lake."))
        snapshot = opened.current_snapshot()
        snapshots = len(opened.snapshots())
    assert snapshot is not None
    assert snapshot.summary is not None
    lost = (len(warm_up) + len(answers)) * ROWS - int(snapshot.summary["total-records"] or 0)
    return _Run(answers, errors, summary["rounds"], left_s, lost, snapshots)


def _committed(url: str, table: str) -> tuple[float, Mapping[str, Any]]:
    """Waits until nothing is left to commit; returns the seconds, and the gateway's summary of the table."""
    client, began = Client(url), time.monotonic()
    try:
        while time.monotonic() < began + COMMITTED_WITHIN_S:
            [summary] = orjson.loads(client.get(f"/ingest/summary?table={table}")[1])["tables"]
            if not summary["waiting"]:
                return time.monotonic() - began, summary
            time.sleep(0.05)
    finally:
        client.close()
    raise RuntimeError(f"{summary['waiting']} ingests wait still.")


def _body(table: str, wait: str) -> bytes:
    log_type = log_types()[0]
    records = log_type.rows(ROWS, 1).to_pylist()
    for record in records:
        record["event_time"] = record["event_time"].isoformat()
    return orjson.dumps({"table": table, "wait": wait, "writeSchema": log_type.columns, "records": records})


def _rows(wait: str, run: _Run) -> Sequence[Row]:
    per_s = len(run.answers) / max(answer[0] for answer in run.answers)
    times_ms = [answer[1] for answer in run.answers]
    quarter = SECONDS / 4
    first = sum(answer[0] < quarter for answer in run.answers) / quarter
    last = sum(SECONDS - quarter <= answer[0] < SECONDS for answer in run.answers) / quarter
    target, is_met = (f"≥ {TARGET:g}", per_s >= TARGET) if wait == "ACCEPTED" else (None, None)
    rows = [
        Row("ingests acknowledged", per_s, "per second", target=target, is_met=is_met),
        Row("rows lost or repeated", run.lost, "", target="none", is_met=run.lost == 0),
        Row("errors", len(run.errors), "", target="none", is_met=not run.errors),
        spread("an ingest, there and back", times_ms),
        Row("an ingest, p99", percentile(times_ms, 99), "ms"),
        Row("in the first quarter", first, "per second"),
        Row("in the last quarter", last, "per second"),
        Row("all committed, after the last answer", run.left_s, "s"),
        Row("snapshots", run.snapshots, ""),
        Row("ingests in a commit round, mean", run.rounds["ingestsPerRound"], ""),
        Row("ingests in a commit round, most", run.rounds["mostIngests"], ""),
        Row("a commit round, p50", run.rounds["commitMs"]["p50"], "ms"),
        Row("a commit round, p95", run.rounds["commitMs"]["p95"], "ms"),
    ]
    return [replace(row, label=f"{wait}: {row.label}") for row in rows]
