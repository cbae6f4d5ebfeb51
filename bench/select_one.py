"""`select 1` through POST /query, and the same on the same Spark session without a gateway.

This measures what the gateway adds to a query that costs Spark next to nothing. One client with one kept
connection asks `select 1` through `POST /query`; in turn, the same process runs `spark.sql("select
1").collect()` on the same warm session: 200 pairs after a warm-up. Each sample begins when the work that
follows the previous answer (the plan's text for the record) is done. *Back to back* is the same without that
pause, in blocks of its own. Then 100 more queries run with a stopwatch on each part.
"""

from __future__ import annotations

import statistics
import time

import orjson
from matplotlib.figure import Figure

from bench.client import SELECT_1, Client
from bench.hosted_gateway import HostedGateway, hosted_gateway
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.select_one_parts import PARTS, WHOLE, part_rows
from bench.stopwatch import Stopwatch

WARM_UP, PAIRS, PROFILED, BACK_TO_BACK = 150, 200, 100, 100
TARGET_MS = 8.0


def measure(lake: Lake) -> Measurement:
    """Returns the medians, their difference, and the parts of the difference."""
    with hosted_gateway(lake) as hosted:
        client = Client(hosted.url)
        for _ in range(WARM_UP):
            _ask(hosted, client)
            _direct(hosted)
        pairs = [(_ask(hosted, client), _direct(hosted)) for _ in range(PAIRS)]
        hasty = [client.timed_query_ms(SELECT_1) for _ in range(BACK_TO_BACK)]
        hasty_direct = [sum(_direct(hosted)) for _ in range(BACK_TO_BACK)]
        health = [_health_ms(client) for _ in range(BACK_TO_BACK)]
        watch = _profiled(hosted, client)
        client.close()
    through = [_span_ms(pair) for pair, _ in pairs]
    direct = [sum(pair) for _, pair in pairs]
    difference = statistics.median(through) - statistics.median(direct)
    rows = [
        spread("through POST /query", through),
        spread("spark.sql(…).collect()", direct),
        Row(
            "difference of the medians",
            difference,
            "ms",
            None,
            None,
            f"≤ {TARGET_MS:g} ms",
            difference <= TARGET_MS,
        ),
        spread("back to back: through POST /query", hasty),
        spread("back to back: spark.sql(…).collect()", hasty_direct),
        spread("GET /healthz: HTTP alone", health),
        spread("direct: sql(…)", [sql_ms for _, (sql_ms, _) in pairs]),
        spread("direct: collect()", [collect_ms for _, (_, collect_ms) in pairs]),
        *part_rows(watch),
    ]
    remarks = [f"No such part any more: {part}." for part in watch.gone]
    return Measurement(rows, {"through": through, "direct": direct}, remarks)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws both in order, and the parts as bars."""
    left, right = figure.subplots(1, 2, width_ratios=[2, 3])
    left.boxplot(
        [measurement.samples["through"], measurement.samples["direct"]],
        tick_labels=["POST /query", "collect()"],
        showfliers=False,
    )
    left.set_ylabel("ms")
    left.set_ylim(bottom=0)
    parts = [row for row in measurement.rows if row.label.startswith("part: ")]
    right.barh([row.label.removeprefix("part: ") for row in parts], [row.value for row in parts])
    right.invert_yaxis()
    right.set_xlabel("ms, median")


def _span_ms(moments: tuple[float, float]) -> float:
    return (moments[1] - moments[0]) * 1000


def _ask(hosted: HostedGateway, client: Client) -> tuple[float, float]:
    began = time.perf_counter()
    status, body = client.query(SELECT_1)
    ended = time.perf_counter()
    if status != 200:
        raise RuntimeError(f"{status}: {body[:500]!r}")
    hosted.wait_until_recorded(orjson.loads(body)["queryId"])
    return began, ended


def _direct(hosted: HostedGateway) -> tuple[float, float]:
    began = time.perf_counter()
    frame = hosted.spark.sql("select 1")
    analyzed = time.perf_counter()
    frame.collect()
    return _span_ms((began, analyzed)), _span_ms((analyzed, time.perf_counter()))


def _health_ms(client: Client) -> float:
    began = time.perf_counter()
    client.get("/healthz")
    return (time.perf_counter() - began) * 1000


def _profiled(hosted: HostedGateway, client: Client) -> Stopwatch:
    watch = Stopwatch()
    with watch.on(PARTS):
        for _ in range(PROFILED):
            watch.lap(WHOLE, *_ask(hosted, client))
    return watch
