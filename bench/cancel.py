"""From DELETE to idle executors.

This measures how soon a canceled query no longer uses anything. Queries that would run for long are sent to a
gateway in this process, one kind after the other, in five rounds. Half a second after the first task of a
query has begun, DELETE is sent. One time ends when the query is `CANCELED`, the other one when Spark's
scheduler has no running task: a task that is asked to end may go on although its job and its query have
ended.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import orjson
from matplotlib.figure import Figure

from bench.client import Client
from bench.hosted_gateway import HostedGateway, hosted_gateway
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread

ROUNDS, BEFORE_S, POLL_S, WITHIN_S = 5, 0.5, 0.005, 60.0
MOST_MS = 2_000.0
_RETURNS = "SELECT * FROM lake.tpcds.store_returns"
KINDS = {
    "scan": f"SELECT sum(hash(*)) FROM ({' UNION ALL '.join([_RETURNS] * 12)})",
    "join": "SELECT count(*) FROM range(0, 100000000, 1, 8) a JOIN range(0, 100000000, 1, 8) b"
    " ON a.id % 1000 = b.id % 1000",
    "broadcast join": "SELECT count(*) FROM range(0, 1000000000, 1, 8) a JOIN range(1000) b ON a.id > b.id",
    "aggregation": "SELECT count(*) FROM (SELECT id, count(*) FROM range(0, 10000000000, 1, 8) GROUP BY id)",
    "wide shuffle": "SELECT sum(hash(id)) FROM (SELECT /*+ REPARTITION(500, id) */ id"
    " FROM range(0, 10000000000, 1, 64))",
    "sort": "SELECT id FROM (SELECT id FROM range(0, 10000000000, 1, 8) ORDER BY hash(id)) WHERE id < 0",
    "loop": "SELECT sum(hash(id)) FROM range(0, 1000000000000, 1, 2)",
}


def measure(lake: Lake) -> Measurement:
    """Returns both times of each kind of query."""
    canceled: dict[str, list[float]] = {kind: [] for kind in KINDS}
    idle: dict[str, list[float]] = {kind: [] for kind in KINDS}
    with hosted_gateway(lake) as hosted:
        client = Client(hosted.url)
        for _ in range(ROUNDS):
            for kind, sql in KINDS.items():
                canceled_ms, idle_ms = _cancel(client, hosted, sql)
                canceled[kind].append(canceled_ms)
                idle[kind].append(idle_ms)
                hosted.wait_until_idle()
    latest_ms = max(max(samples) for samples in idle.values())
    rows = [
        *(spread(f"{kind}: until CANCELED", canceled[kind]) for kind in KINDS),
        *(spread(f"{kind}: until no task runs", idle[kind]) for kind in KINDS),
        Row("the latest of all", latest_ms, "ms", None, None, "< 2 s", latest_ms < MOST_MS),
    ]
    return Measurement(rows, {"canceled": canceled, "idle": idle})


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the medians of both times."""
    axes = figure.subplots()
    series = measurement.samples
    for offset, (name, label) in enumerate((("canceled", "CANCELED"), ("idle", "no task runs"))):
        medians = [statistics.median(samples) for samples in series[name].values()]
        axes.barh([place + 0.4 * offset for place in range(len(medians))], medians, 0.4, label=label)
    axes.set_yticks([place + 0.2 for place in range(len(KINDS))], list(series["idle"]))
    axes.set_xlabel("ms after DELETE")
    axes.legend()


def _cancel(client: Client, hosted: HostedGateway, sql: str) -> tuple[float, float]:
    """Returns when the query is canceled, and when no task runs, in milliseconds after DELETE."""
    body = {"sql": sql, "waitTimeout": "0s", "dynamicFiltering": {"enabled": False}}
    path = orjson.loads(client.query(body)[1])["links"]["self"]
    _until(lambda: _has_running_task(client, path))
    time.sleep(BEFORE_S)
    with ThreadPoolExecutor(1) as threads:
        began_s = time.perf_counter()
        deleted = threads.submit(_deleted_s, client, path)
        _until(lambda: running_tasks(hosted) == 0)
        idle_s = time.perf_counter()
        return (deleted.result() - began_s) * 1000, (idle_s - began_s) * 1000


def running_tasks(hosted: HostedGateway) -> int:
    """Returns how many tasks Spark's scheduler knows to run."""
    context = hosted.spark.sparkContext
    assert context._jvm is not None
    by_executor = context._jsc.sc().taskScheduler().runningTasksByExecutors()
    return sum(context._jvm.scala.jdk.javaapi.CollectionConverters.asJava(by_executor).values())


def _deleted_s(client: Client, path: str) -> float:
    _, answer = client.delete(f"{path}?waitTimeout=50s")
    ended_s = time.perf_counter()
    state = orjson.loads(answer)["status"]["state"]
    if state != "CANCELED":
        raise RuntimeError(f"the query ended as {state}")
    return ended_s


def _has_running_task(client: Client, path: str) -> bool:
    status = orjson.loads(client.get(path)[1])["status"]
    if status["state"] not in ("QUEUED", "RUNNING"):
        raise RuntimeError(f"the query ended before it was canceled: {status}")
    return status["progress"] is not None and status["progress"]["tasks"]["running"] > 0


def _until(is_so: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + WITHIN_S
    while not is_so():
        if time.monotonic() > deadline_s:
            raise RuntimeError(f"not within {WITHIN_S:g} s")
        time.sleep(POLL_S)
