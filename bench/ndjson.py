"""JSON records over HTTP, from the body to the committed snapshot.

How many rows one gateway process takes in for each second of CPU. One client sends the same bodies of
20,000 records with 40 of 500 columns, one after the other, and waits for each commit: two to warm up, ten
to measure. CPU is that of the gateway and of all that it has started (PostgreSQL for log and catalog, the
idle JVM), without the client's.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from http.client import HTTPConnection
from urllib.parse import urlsplit

import orjson
import psutil
from matplotlib.figure import Figure

from bench.gateway_process import GatewayProcess, gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, REMARKS, SCALE
from bench.wide_logs import log_types
from bench.wide_tables import make_table

ROWS = 20_000 if IS_FULL else max(500, int(20_000 * SCALE))
WARM_UP, ROUNDS = (2, 10) if IS_FULL else (1, 2)
TARGET = 100_000
SETTINGS = {"SLUICE_MAX_BODY_BYTES": str(256 * 1024 * 1024)}


def measure(lake: Lake) -> Measurement:
    """Rows per CPU-second and per second."""
    body, headers = _request(make_table(lake, "ndjson"))
    samples: list[dict[str, float]] = []
    with gateway_process(lake.environment() | SETTINGS) as gateway:
        for number in range(WARM_UP + ROUNDS):
            cpu_s, began = _cpu_s(gateway), time.perf_counter()
            _send(gateway.url, body, headers)
            took_s = time.perf_counter() - began
            if number >= WARM_UP:
                samples.append({"took_s": took_s, "cpu_s": _cpu_s(gateway) - cpu_s})
    return Measurement(_rows(samples, len(body)), {"samples": samples}, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Request by request."""
    axes = figure.subplots()
    samples = measurement.samples["samples"]
    for name, label in (("took_s", "rows per second"), ("cpu_s", "rows per CPU-second")):
        axes.plot(range(1, len(samples) + 1), [ROWS / each[name] for each in samples], "o-", label=label)
    axes.axhline(TARGET, color="grey", linestyle=":")
    axes.set(xlabel="request", ylabel="rows")
    axes.set_ylim(bottom=0)
    axes.legend()


def _request(table: str) -> tuple[bytes, Mapping[str, str]]:
    log_type = log_types()[0]
    rows = log_type.rows(ROWS, 1).to_pylist()
    for each in rows:
        moment: datetime = each["event_time"]
        each["event_time"] = moment.isoformat()
    body = {"table": table, "writeSchema": log_type.columns, "records": rows}
    return orjson.dumps(body), {"Content-Type": "application/json"}


def _send(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=300)
    connection.request("POST", "/ingest", body, dict(headers))
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    if answer.status != 200 or orjson.loads(content)["commits"][0]["addedRecords"] != ROWS:
        raise RuntimeError(f"{answer.status}: {content[:500]!r}")


def _cpu_s(gateway: GatewayProcess) -> float:
    total = 0.0
    for each in (gateway.process, *gateway.process.children(recursive=True)):
        try:
            times = each.cpu_times()
        except psutil.NoSuchProcess:
            continue
        # What ended children took counts, too: PostgreSQL has a process for each connection.
        total += times.user + times.system + times.children_user + times.children_system
    return total


def _rows(samples: Sequence[Mapping[str, float]], body_bytes: int) -> Sequence[Row]:
    per_cpu_s = [ROWS / each["cpu_s"] for each in samples]
    value = statistics.median(per_cpu_s)
    return [
        Row(
            "rows per CPU-second",
            value,
            "",
            min(per_cpu_s),
            max(per_cpu_s),
            f"≥ {TARGET:,}",
            value >= TARGET,
        ),
        spread("rows per second", [ROWS / each["took_s"] for each in samples], ""),
        Row("rows of a request", ROWS, ""),
        Row("body of a request", body_bytes / 1e6, "MB"),
    ]
