"""Whether memory stays flat over ten thousand queries.

This measures whether queries leave anything behind. 10,000 queries run, ten statements in turn, two of them
with 10,000 rows and one that fails. After each 500 the JVM collects its garbage (`jcmd GC.run`). Two
seconds later, when it has returned the freed memory, the resident memory of gateway and JVM, the heap and the
metaspace are read. Results live 20 s instead of ten minutes, so that results kept on purpose are dropped
within the run. The slope is a line fitted from the 2,500th query on; flat means that it comes to less than 10
% of the value there over the remaining 7,500. The compiler fills the first thousands: native memory tracking
shows the JVM's compiled code grow from 26 to 104 MB by the 1,000th, and only to 115 MB by the 2,500th.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from api.cli.demonstration.demo import QUESTION
from bench.client import SELECT_1, Client
from bench.gateway_process import GatewayProcess, gateway_process
from bench.jvm_memory import collect_garbage, has_jcmd, used_mb
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row

QUERIES, STEP, SETTLED = 10_000, 500, 2_500
# The JVM uncommits memory in the background, after its collection.
UNCOMMIT_S = 2.0
RESULT_TTL_S = 20
FLAT_PERCENT = 10.0
MB = 1024 * 1024

_TABLES = {"catalog": "lake", "schema": "tpcds"}
STATEMENTS: tuple[dict[str, Any], ...] = (
    SELECT_1,
    QUESTION,
    {"sql": "SELECT id, id * 2 AS twice, CAST(id AS STRING) AS text FROM range(10000)"},
    {"sql": "SELECT count(*) FROM store", **_TABLES},
    {"sql": "SELECT * FROM item LIMIT 10000", **_TABLES},
    {"sql": "SELECT i_category, count(*) AS n FROM item GROUP BY i_category ORDER BY n DESC", **_TABLES},
    {"sql": "SELECT * FROM date_dim WHERE d_year = :year", "parameters": {"year": 1999}, **_TABLES},
    {
        "sql": "SELECT c_birth_country, count(*) AS n FROM customer GROUP BY 1 ORDER BY 2 DESC LIMIT 5",
        **_TABLES,
    },
    {"sql": "SELECT raise_error('as asked') AS never"},
    {"sql": "SELECT s_store_name, s_city FROM store ORDER BY 1 LIMIT 3", **_TABLES},
)
FAILING = STATEMENTS[8]

Point = dict[str, float]


def measure(lake: Lake) -> Measurement:
    """Returns memory after each 500 queries, and its slope."""
    environment = lake.environment() | {"SLUICE_RESULT_TTL_S": str(RESULT_TTL_S)}
    with gateway_process(environment) as gateway:
        client = Client(gateway.url)
        points = [memory_point(gateway, 0)]
        for count in range(STEP, QUERIES + 1, STEP):
            _send(client, STEP)
            points.append(memory_point(gateway, count))
        client.close()
    remarks = () if has_jcmd() else ("No jcmd here: the JVM's garbage was not collected before readings.",)
    return Measurement(memory_rows(points, SETTLED), {"points": points}, remarks)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each kind of memory over the number of queries."""
    draw_points(figure, measurement.samples["points"])


def draw_points(figure: Figure, points: Sequence[Point]) -> None:
    """Draws each kind of memory over the number of queries."""
    axes = figure.subplots()
    for name in points[0]:
        if name != "queries":
            axes.plot(
                [point["queries"] for point in points], [point[name] for point in points], "o-", label=name
            )
    axes.set(xlabel="queries", ylabel="MB")
    axes.set_ylim(bottom=0)
    axes.legend()


def _send(client: Client, count: int) -> None:
    for position in range(count):
        body = STATEMENTS[position % len(STATEMENTS)]
        status, answer = client.query(body)
        if (status == 200) is (body is FAILING):
            raise RuntimeError(f"{body['sql']}: {status} {answer[:500]!r}")
    # The gateway closes connections that are idle for as long as the readings take.
    client.close()


def memory_point(gateway: GatewayProcess, queries: int) -> Point:
    """Returns what the processes of a gateway use after this number of queries, with garbage collected."""
    jvm = gateway.jvm()
    collect_garbage(jvm)
    time.sleep(UNCOMMIT_S)
    point: Point = {
        "queries": queries,
        "gateway, resident": gateway.process.memory_info().rss / MB,
        "JVM, resident": jvm.memory_info().rss / MB,
    }
    used = used_mb(jvm)
    return point | ({} if used is None else {"JVM, heap used": used[0], "JVM, metaspace used": used[1]})


def memory_rows(points: Sequence[Point], settled_after: int) -> list[Row]:
    """Returns each kind of memory after this number of queries and at the end, and whether it is flat."""
    rows: list[Row] = []
    settled = [point for point in points if point["queries"] >= settled_after]
    counts = [sample["queries"] for sample in settled]
    for name in points[0]:
        if name == "queries":
            continue
        values = [sample[name] for sample in settled]
        slope = statistics.linear_regression(counts, values).slope
        percent = 100 * slope * (counts[-1] - settled_after) / values[0]
        rows += [
            Row(f"{name}: after {settled_after} queries", values[0], "MB"),
            Row(f"{name}: after {counts[-1]:.0f} queries", values[-1], "MB"),
            Row(f"{name}: slope", slope * 1000, "MB per 1,000", target="flat", is_met=percent < FLAT_PERCENT),
        ]
    return rows
