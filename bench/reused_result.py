"""An answer that is an earlier result, and the same query run.

This measures what a dashboard waits for when its tables have not changed. One client with one kept connection
asks the demo's question with `reuseResult: true`, and in turn with `false`: 200 pairs after a warm-up. Every
answer of the first kind must say that it was reused. The same is measured with `select 1`, which reads no
table, so the difference of the two is mostly the question to the catalog. *State of the tables* is that
question alone, in this process.
"""

from __future__ import annotations

import time
from typing import Any

import orjson
from matplotlib.figure import Figure

from api.cli.demonstration.demo import QUESTION
from bench.client import SELECT_1, Client
from bench.hosted_gateway import HostedGateway, hosted_gateway
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, percentile, spread
from service.model.tables.tables import TableAt, TableName

WARM_UP, PAIRS, LOOKS = 20, 200, 200
TARGET_MS = 10.0
TABLES = ("store_returns", "date_dim")


def measure(lake: Lake) -> Measurement:
    """Returns the medians and the 95th percentiles of both kinds of answers."""
    with hosted_gateway(lake) as hosted:
        client = Client(hosted.url)
        question = _pairs(hosted, client, QUESTION)
        select_1 = _pairs(hosted, client, SELECT_1)
        looks = [_look_ms(hosted) for _ in range(LOOKS)]
        client.close()
    samples = {
        "reused": [reused for reused, _ in question],
        "run": [run for _, run in question],
        "select 1, reused": [reused for reused, _ in select_1],
        "select 1, run": [run for _, run in select_1],
        "state of the tables": looks,
    }
    [median, *others] = [spread(label, values) for label, values in samples.items()]
    target = Row("reused, median", median.value, "ms", None, None, "< 10 ms", median.value < TARGET_MS)
    slowest = [Row(f"{label}, p95", percentile(values, 95), "ms") for label, values in samples.items()]
    return Measurement([target, median, *others, *slowest], samples)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws all samples, on a scale that shows both kinds."""
    axes = figure.subplots()
    axes.boxplot(list(measurement.samples.values()), tick_labels=list(measurement.samples), showfliers=False)
    axes.set_ylabel("ms")
    axes.set_yscale("log")


def _pairs(hosted: HostedGateway, client: Client, query: dict[str, Any]) -> list[tuple[float, float]]:
    for _ in range(WARM_UP):
        _ask_ms(hosted, client, query, reuse=False)
    _ask_ms(hosted, client, query, reuse=True, is_first=True)
    return [
        (_ask_ms(hosted, client, query, reuse=True), _ask_ms(hosted, client, query, reuse=False))
        for _ in range(PAIRS)
    ]


def _ask_ms(
    hosted: HostedGateway, client: Client, query: dict[str, Any], *, reuse: bool, is_first: bool = False
) -> float:
    began = time.perf_counter()
    status, body = client.query({**query, "reuseResult": reuse})
    took_ms = (time.perf_counter() - began) * 1000
    answer = orjson.loads(body)
    if status != 200 or (answer["reused"] is not None) is not (reuse and not is_first):
        raise RuntimeError(f"{status}: {body[:500]!r}")
    hosted.wait_until_recorded(answer["queryId"])
    return took_ms


def _look_ms(hosted: HostedGateway) -> float:
    asked = [TableAt(TableName("lake", "tpcds", table)) for table in TABLES]
    began = time.perf_counter()
    found = hosted.gateway.queries.ports.catalogs.facts_of(asked)
    took_ms = (time.perf_counter() - began) * 1000
    if len(found) < len(asked):
        raise RuntimeError(f"only {sorted(map(str, found))}")
    return took_ms
