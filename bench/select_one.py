"""`select 1` through POST /query, and the same on the same Spark session without a gateway.

What the gateway adds to a query that costs Spark next to nothing. One client with one kept connection asks
`select 1` through `POST /query`; in turn, the same process runs `spark.sql("select 1").collect()` on the
same warm session: 200 pairs after a warm-up. Each sample begins when the work that follows the former
answer (the plan's text for the record) is done; *back to back* is the same without that pause, in blocks of
their own. Then 100 more queries run with a stopwatch on each part (whose own cost is below 0.1 ms).
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator

import orjson
from matplotlib.figure import Figure

from bench.client import SELECT_1, Client
from bench.hosted_gateway import HostedGateway, hosted_gateway
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.select_one_parts import INSIDE, PARTS
from bench.stopwatch import Stopwatch

WARM_UP, PAIRS, PROFILED, BACK_TO_BACK = 150, 200, 100, 100
TARGET_MS = 10.0


def measure(lake: Lake) -> Measurement:
    """Medians, their difference, and where the difference goes."""
    with hosted_gateway(lake) as hosted:
        client = Client(hosted.url)
        for _ in range(WARM_UP):
            _ask(hosted, client)
            _collect_ms(hosted)
        pairs = [(_ask(hosted, client), _collect_ms(hosted)) for _ in range(PAIRS)]
        through, direct = [list(each) for each in zip(*pairs, strict=True)]
        hasty = [client.timed_query_ms(SELECT_1) for _ in range(BACK_TO_BACK)]
        hasty_direct = [_collect_ms(hosted) for _ in range(BACK_TO_BACK)]
        health = [_health_ms(client) for _ in range(BACK_TO_BACK)]
        watch, totals = _profiled(hosted, client)
        client.close()
    difference = statistics.median(through) - statistics.median(direct)
    rows = [
        spread("through POST /query", through),
        spread("spark.sql(…).collect()", direct),
        Row("difference of the medians", difference, "ms", None, None, "≤ 10 ms", difference <= TARGET_MS),
        spread("back to back: through POST /query", hasty),
        spread("back to back: spark.sql(…).collect()", hasty_direct),
        spread("GET /healthz: HTTP alone", health),
        *_part_rows(watch, totals),
    ]
    parts = {part.label: watch.laps.get(part.label, []) for part in PARTS}
    samples = {"through": through, "direct": direct, "parts": parts, "totals": totals}
    remarks = [f"No such part any more: {each}." for each in watch.gone]
    return Measurement(rows, samples, remarks)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Both as they came, and the parts as bars."""
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


def _ask(hosted: HostedGateway, client: Client) -> float:
    started = time.perf_counter()
    status, body = client.query(SELECT_1)
    took_ms = (time.perf_counter() - started) * 1000
    if status != 200:
        raise RuntimeError(f"{status}: {body[:500]!r}")
    hosted.wait_until_recorded(orjson.loads(body)["queryId"])
    return took_ms


def _collect_ms(hosted: HostedGateway) -> float:
    started = time.perf_counter()
    hosted.spark.sql("select 1").collect()
    return (time.perf_counter() - started) * 1000


def _health_ms(client: Client) -> float:
    started = time.perf_counter()
    client.get("/healthz")
    return (time.perf_counter() - started) * 1000


def _profiled(hosted: HostedGateway, client: Client) -> tuple[Stopwatch, list[float]]:
    watch, totals = Stopwatch(), []
    with watch.on(PARTS):
        for _ in range(PROFILED):
            totals.append(_ask(hosted, client))
            watch.lap()
    return watch, totals


def _part_rows(watch: Stopwatch, totals: list[float]) -> Iterator[Row]:
    outer = [0.0] * len(totals)
    for part in PARTS:
        samples = watch.laps.get(part.label)
        if samples is None:
            continue
        yield spread("part: " + "· " * part.depth + part.label, samples)
        if part.label in INSIDE and len(samples) == len(totals):
            outer = [before + each for before, each in zip(outer, samples, strict=True)]
    rest = [total - inside for total, inside in zip(totals, outer, strict=True)]
    yield spread("part: HTTP, validation, threads handing over", rest)
