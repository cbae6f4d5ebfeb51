"""Ten million rows in Arrow to the client, and the same rows by `toArrow()` in a process of their own.

This measures whether a large result costs the gateway memory or time. A query makes 10 million rows of ten
columns: numbers, decimals, texts and moments. Through the gateway, a client sends it, waits for its end, and
reads `GET /query/<id>/result` as an Arrow stream without compression, batch by batch. In turn, a process of
its own runs the same text on a plain Spark session with as many cores and as much heap, and calls
`toArrow()`. The two alternate. The gateway's own memory, without its JVM, is read ten times a second: its
highest value counts.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from urllib.parse import urlsplit

import orjson
import psutil
import pyarrow as pa
from matplotlib.figure import Figure

from bench.client import Client
from bench.gateway_process import GatewayProcess, gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread

ROWS, ROUNDS, CORES, HEAP = 10_000_000, 3, 2, "2g"
SPEED_TARGET, MEMORY_TARGET_MB = 0.7, 400.0
MB = 1024 * 1024
SQL = (
    "SELECT id, id % 1000 AS k, CAST(id AS DOUBLE) / 7 AS d, CAST(id AS DECIMAL(18, 2)) AS m,"
    " CAST(id AS STRING) AS t, concat('customer-', id % 100000) AS c, id % 2 = 0 AS b,"
    " timestamp_micros(id * 1000) AS s, date_add(DATE'2000-01-01', CAST(id % 9000 AS INT)) AS y,"
    f" CAST(id % 32000 AS SMALLINT) AS n FROM range(0, {ROWS}, 1, 16)"
)
# A batch at a time, as a client that keeps nothing.
BY_SPARK = """
import sys, time
from pyspark.sql import SparkSession
sql, cores, heap = sys.argv[1:]
spark = (SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", heap)
    .config("spark.driver.maxResultSize", "0").config("spark.ui.enabled", "false").getOrCreate())
spark.sql("SELECT id % 10 AS k, count(*) FROM range(10000) GROUP BY 1").toArrow()
print("ready", flush=True)
for _ in sys.stdin:
    began = time.perf_counter()
    rows = spark.sql(sql).toArrow().num_rows
    print(rows, time.perf_counter() - began, flush=True)
"""


def measure(lake: Lake) -> Measurement:
    """Returns both times, their ratio, and the gateway's highest memory."""
    environment = lake.environment() | {
        "SLUICE_SPARK_MASTER": f"local[{CORES}]",
        "SLUICE_SPARK_DRIVER_MEMORY": HEAP,
        "SLUICE_MAX_ROW_LIMIT": str(10 * ROWS),
        "SLUICE_MAX_BYTE_LIMIT": str(16 * 1024 * MB),
        "SLUICE_RESULT_MAX_BYTES": str(16 * 1024 * MB),
    }
    through: list[float] = []
    direct: list[float] = []
    first: list[float] = []
    peaks: list[float] = []
    with gateway_process(environment) as gateway, _plain_spark() as spark:
        for _ in range(ROUNDS):
            with _highest_memory(gateway) as peak:
                begun_s, whole_s = _through(gateway)
            first.append(begun_s)
            through.append(whole_s)
            peaks.append(max(peak) / MB)
            direct.append(_by_spark(spark))
    ratio = statistics.median(direct) / statistics.median(through)
    rows = [
        Row("speed against toArrow()", ratio, "times", None, None, "≥ 0.7", ratio >= SPEED_TARGET),
        Row(
            "gateway's memory, highest",
            max(peaks),
            "MB",
            None,
            None,
            "< 400 MB",
            max(peaks) < MEMORY_TARGET_MB,
        ),
        spread("through the gateway", through, "s"),
        spread("through the gateway, until the first byte", first, "s"),
        spread("toArrow()", direct, "s"),
    ]
    return Measurement(rows, {"through the gateway": through, "toArrow()": direct, "memory": peaks})


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the times of both."""
    axes = figure.subplots()
    names = ["through the gateway", "toArrow()"]
    axes.boxplot([measurement.samples[name] for name in names], tick_labels=names, showfliers=False)
    axes.set_ylabel("s")
    axes.set_ylim(bottom=0)


def _through(gateway: GatewayProcess) -> tuple[float, float]:
    """Returns the seconds until the first byte and until the last row."""
    client = Client(gateway.url)
    began = time.perf_counter()
    status, body = client.query(
        {"sql": SQL, "rowLimit": 10 * ROWS, "byteLimit": 16 * 1024 * MB, "format": "ARROW_STREAM"}
    )
    query_id = orjson.loads(body)["queryId"]
    while status == 202:
        status, body = client.get(f"/query/{query_id}?waitTimeout=50s")
    client.close()
    if status != 200:
        raise RuntimeError(f"{status}: {body[:500]!r}")
    address = urlsplit(gateway.url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=300)
    connection.request("GET", f"/query/{query_id}/result", headers={"Accept-Encoding": "identity"})
    answer = connection.getresponse()
    begun_s = time.perf_counter() - began
    with pa.ipc.open_stream(answer) as batches:
        count = sum(batch.num_rows for batch in batches)
    whole_s = time.perf_counter() - began
    connection.close()
    if count != ROWS:
        raise RuntimeError(f"{count} rows")
    return begun_s, whole_s


@contextmanager
def _plain_spark() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-c", BY_SPARK, SQL, str(CORES), HEAP]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
    finally:
        process.terminate()
        process.wait(60)


def _by_spark(spark: subprocess.Popen[str]) -> float:
    assert spark.stdin is not None
    assert spark.stdout is not None
    spark.stdin.write("run\n")
    spark.stdin.flush()
    count, seconds = spark.stdout.readline().split()
    if int(count) != ROWS:
        raise RuntimeError(f"{count} rows")
    return float(seconds)


@contextmanager
def _highest_memory(gateway: GatewayProcess) -> Iterator[list[int]]:
    """Yields the resident memory of the gateway's own process, read ten times a second."""
    own: psutil.Process = gateway.process
    read, ended = [own.memory_info().rss], threading.Event()

    def watch() -> None:
        while not ended.wait(0.1):
            read.append(own.memory_info().rss)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield read
    finally:
        ended.set()
        watcher.join()
