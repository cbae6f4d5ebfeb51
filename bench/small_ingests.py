"""Eight clients send small ingests to one table for a minute.

How many ingests of 100 rows a gateway acknowledges in a second when each waits until it is committed. Eight
clients, in a process of their own, send ingests of 100 records with 40 of 500 columns, each the next one as
soon as it has its answer. Afterwards every row is counted, and `GET /ingest/summary` tells the rounds.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
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
TARGET = 100.0

Sent = tuple[list[tuple[float, float]], list[str]]
"""Of each answer the second at which it came, from the start, and its milliseconds; what went wrong."""


def measure(lake: Lake) -> Measurement:
    """Ingests per second, their times, and the rounds that they became."""
    table = make_table(lake, "small")
    body = _body(table)
    with (
        gateway_process(lake.environment()) as gateway,
        ProcessPoolExecutor(1, mp_context=SPAWN) as clients,
    ):
        warm_up, _ = clients.submit(send_for, gateway.url, body, CLIENTS, WARM_UP_S).result()
        sent, errors = clients.submit(send_for, gateway.url, body, CLIENTS, SECONDS).result()
        client = Client(gateway.url)
        [summary] = orjson.loads(client.get(f"/ingest/summary?table={table}")[1])["tables"]
        client.close()
    with open_catalog(lake) as catalog:
        opened = catalog.load_table(table.removeprefix("lake."))
        snapshot = opened.current_snapshot()
        snapshots = len(opened.snapshots())
    assert snapshot is not None
    assert snapshot.summary is not None
    lost = (len(warm_up) + len(sent)) * ROWS - int(snapshot.summary["total-records"] or 0)
    samples = {"answers": sent, "errors": errors, "rounds": summary["rounds"]}
    return Measurement(_rows(sent, errors, summary["rounds"], lost, snapshots), samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Ingests in each second, and how long they took."""
    left, right = figure.subplots(1, 2)
    answers = measurement.samples["answers"]
    left.hist([each[0] for each in answers], bins=max(1, int(SECONDS)))
    left.axhline(TARGET, color="grey", linestyle=":")
    left.set(xlabel="second", ylabel="ingests committed")
    right.plot([each[0] for each in answers], [each[1] for each in answers], ".", markersize=2)
    right.set(xlabel="second", ylabel="ms")
    right.set_ylim(bottom=0)


def send_for(url: str, body: bytes, clients: int, seconds: float) -> Sent:
    """So many clients send the body again and again."""
    answers: list[tuple[float, float]] = []
    errors: list[str] = []
    started = time.monotonic()

    def send() -> None:
        client = Client(url)
        while (began := time.monotonic()) < started + seconds:
            try:
                status, answer = client.post("/ingest", body)
                if status != 200 or orjson.loads(answer)["state"] != "COMMITTED":
                    errors.append(f"{status}: {answer[:200]!r}")
                    continue
            except (OSError, HTTPException) as failure:
                errors.append(str(failure))
                continue
            ended = time.monotonic()
            answers.append((ended - started, (ended - began) * 1000))
        client.close()

    threads = [threading.Thread(target=send) for _ in range(clients)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    return answers, errors


def _body(table: str) -> bytes:
    log_type = log_types()[0]
    records = log_type.rows(ROWS, 1).to_pylist()
    for each in records:
        each["event_time"] = each["event_time"].isoformat()
    return orjson.dumps({"table": table, "writeSchema": log_type.columns, "records": records})


def _rows(
    sent: Sequence[tuple[float, float]],
    errors: Sequence[str],
    rounds: Mapping[str, Any],
    lost: int,
    snapshots: int,
) -> Sequence[Row]:
    per_s = len(sent) / max(each[0] for each in sent)
    times_ms = [each[1] for each in sent]
    quarter = SECONDS / 4
    first = sum(each[0] < quarter for each in sent) / quarter
    last = sum(SECONDS - quarter <= each[0] < SECONDS for each in sent) / quarter
    return [
        Row("ingests committed", per_s, "per second", target=f"≥ {TARGET:g}", is_met=per_s >= TARGET),
        Row("rows lost or repeated", lost, "", target="none", is_met=lost == 0),
        Row("errors", len(errors), "", target="none", is_met=not errors),
        spread("an ingest, there and back", times_ms),
        Row("an ingest, p99", percentile(times_ms, 99), "ms"),
        Row("in the first quarter", first, "per second"),
        Row("in the last quarter", last, "per second"),
        Row("snapshots", snapshots, ""),
        Row("ingests in a commit round, mean", rounds["ingestsPerRound"], ""),
        Row("ingests in a commit round, most", rounds["mostIngests"], ""),
        Row("a commit round, p50", rounds["commitMs"]["p50"], "ms"),
        Row("a commit round, p95", rounds["commitMs"]["p95"], "ms"),
    ]
