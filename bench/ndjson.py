"""NDJSON over HTTP, from the body to the committed snapshot.

This measures how many rows one gateway process ingests for each second of CPU. One client sends the same body
of 200,000 records with 40 of 500 columns, a line each, again and again, and waits for each commit: two to
warm up, seven to measure; then the same compressed by zstd. CPU is that of the gateway and of all processes
that it has started (PostgreSQL for log and catalog, the idle JVM), without the client's.

In turn with them, Arrow alone reads the same lines and writes them as one Parquet file in memory, with the
same compression, on one thread: no HTTP, no checks, no disk, no commit. Machines differ, and so does one
machine from day to day; this figure shows what is left to gain.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

import orjson
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.figure import Figure
from pyarrow import json as arrow_json

from bench.gateway_process import GatewayProcess, gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, REMARKS, SCALE
from bench.wide_logs import log_types
from bench.wide_tables import make_table

ROWS = 200_000 if IS_FULL else max(5_000, int(200_000 * SCALE))
WARM_UP, ROUNDS = (2, 7) if IS_FULL else (1, 2)
TARGET = 100_000
PLAIN, COMPRESSED, ARROW = "NDJSON", "NDJSON, zstd", "Arrow alone"
_BLOCK_BYTES = 4 * 1024**2


def measure(lake: Lake) -> Measurement:
    """Returns rows per CPU-second and per second, of both."""
    log_type = log_types()[0]
    body = as_ndjson(log_type.rows(ROWS, 1))
    bodies = {PLAIN: (body, ""), COMPRESSED: (pa.compress(body, "zstd", asbytes=True), "zstd")}
    samples: dict[str, list[dict[str, float]]] = {body: [] for body in (*bodies, ARROW)}
    schema = arrow_json.read_json(pa.py_buffer(body[: body.index(b"\n", _BLOCK_BYTES // 4)])).schema
    asked = {"table": make_table(lake, "ndjson"), "writeSchema": ",".join(log_type.columns)}
    with gateway_process(lake.environment()) as gateway:
        for number in range(WARM_UP + ROUNDS):
            for name, (sent, encoding) in bodies.items():
                cpu_s, began = _cpu_s(gateway), time.perf_counter()
                _send(gateway.url, f"/ingest?{urlencode(asked)}", sent, encoding)
                took_s = time.perf_counter() - began
                if number >= WARM_UP:
                    samples[name].append({"took_s": took_s, "cpu_s": _cpu_s(gateway) - cpu_s})
            alone = _by_arrow_alone(body, schema)
            if number >= WARM_UP:
                samples[ARROW].append(alone)
    sizes = {name: len(sent) for name, (sent, _) in bodies.items()}
    return Measurement(_rows(samples, sizes), samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws request by request."""
    axes = figure.subplots()
    for name, samples in measurement.samples.items():
        for kind, label in (("took_s", "rows per second"), ("cpu_s", "rows per CPU-second")):
            values = [ROWS / sample[kind] for sample in samples]
            axes.plot(range(1, len(values) + 1), values, "o-", label=f"{name}: {label}")
    axes.axhline(TARGET, color="grey", linestyle=":")
    axes.set(xlabel="request", ylabel="rows")
    axes.set_ylim(bottom=0)
    axes.legend()


def as_ndjson(table: pa.Table) -> bytes:
    """Returns the rows of a log type, a line each."""
    rows = table.to_pylist()
    for row in rows:
        moment: datetime = row["event_time"]
        row["event_time"] = moment.isoformat()
    return b"\n".join(map(orjson.dumps, rows))


def _by_arrow_alone(body: bytes, schema: pa.Schema) -> dict[str, float]:
    cpu_s, began = time.process_time(), time.perf_counter()
    options = arrow_json.ReadOptions(use_threads=False, block_size=_BLOCK_BYTES)
    # With a known schema, Arrow need not infer one.
    known = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="error")
    rows = arrow_json.read_json(pa.py_buffer(body), options, known)
    pq.write_table(rows, pa.BufferOutputStream(), compression="zstd", compression_level=3)
    return {"took_s": time.perf_counter() - began, "cpu_s": time.process_time() - cpu_s}


def _send(url: str, path: str, body: bytes, encoding: str) -> None:
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=300)
    headers = {"Content-Type": "application/x-ndjson"} | ({"Content-Encoding": encoding} if encoding else {})
    connection.request("POST", path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    if answer.status != 200 or orjson.loads(content)["commits"][0]["addedRecords"] != ROWS:
        raise RuntimeError(f"{answer.status}: {content[:500]!r}")


def _cpu_s(gateway: GatewayProcess) -> float:
    total = 0.0
    for process in (gateway.process, *gateway.process.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        # Ended children count too: PostgreSQL has a process for each connection.
        total += times.user + times.system + times.children_user + times.children_system
    return total


def _rows(samples: Mapping[str, Sequence[Mapping[str, float]]], sizes: Mapping[str, int]) -> Sequence[Row]:
    rows: list[Row] = []
    for name, of in samples.items():
        per_cpu_s = [ROWS / run["cpu_s"] for run in of]
        value = statistics.median(per_cpu_s)
        target, is_met = (f"≥ {TARGET:,}", value >= TARGET) if name == PLAIN else (None, None)
        label = f"{name}: rows per CPU-second"
        rows.append(Row(label, value, "", min(per_cpu_s), max(per_cpu_s), target, is_met))
        rows.append(spread(f"{name}: rows per second", [ROWS / run["took_s"] for run in of], ""))
        if name in sizes:
            rows.append(Row(f"{name}: body of a request", sizes[name] / 1e6, "MB"))
    shares = [
        100 * alone["cpu_s"] / ours["cpu_s"]
        for alone, ours in zip(samples[ARROW], samples[PLAIN], strict=True)
    ]
    rows.append(spread("CPU, Arrow alone to NDJSON", shares, "%"))
    return rows
