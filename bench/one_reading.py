"""Cold queries: a dimension read once, for keys and rows, and read twice, for keys and for the join.

This measures whether a query whose keys nobody has collected yet pays for its dimension once. Each query asks
for the demo's returns on days of a month that no query has asked for before, so that neither keys nor rows
are cached. They run in pairs on one warm gateway: one query with all rewrites, one with all but
`ONE_READING`, with the order alternating. *Planning* is everything before the query runs, including the
collection.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

from matplotlib.figure import Figure

from bench.asked import Asked, ask
from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from service.model.query.rewrites import RewriteKind

WARM_UP, ROUNDS = 16, 25
MONTHS = 12
ONCE, TWICE = "read once", "read twice"
REWRITES = {
    ONCE: [kind.value for kind in RewriteKind],
    TWICE: [kind.value for kind in RewriteKind if kind is not RewriteKind.ONE_READING],
}
QUESTIONS = {
    "with rows of the dimension": "SELECT d_date, count(*), sum(sr_return_amt) FROM {joined} GROUP BY d_date",
    "with its keys alone": "SELECT count(*), sum(sr_return_amt) FROM {joined}",
}
JOINED = (
    "store_returns JOIN date_dim ON sr_returned_date_sk = d_date_sk"
    " WHERE d_year = {year} AND d_moy = {month} AND d_dom <= {last_day}"
)

Samples = dict[str, dict[str, dict[str, list[float]]]]


def measure(lake: Lake) -> Measurement:
    """Returns milliseconds by question and way, and how often each way was taken."""
    samples: Samples = {
        question: {way: {"took": [], "planning": []} for way in REWRITES} for question in QUESTIONS
    }
    faults: list[str] = []
    with gateway_process(lake.environment()) as gateway:
        client = Client(gateway.url)
        conditions = fresh_conditions()
        for number in range(WARM_UP + ROUNDS):
            for question, sql in QUESTIONS.items():
                ways = list(REWRITES) if number % 2 else list(reversed(REWRITES))
                for way in ways:
                    found = ask(client, _body(sql, next(conditions), way))
                    faults += _faults(found, way)
                    if number >= WARM_UP:
                        samples[question][way]["took"].append(found.took_ms)
                        samples[question][way]["planning"].append(found.planning_ms)
        client.close()
    return Measurement(_rows(samples, faults), samples, tuple(dict.fromkeys(faults)))


def fresh_conditions() -> Iterator[str]:
    """Yields different conditions on about a month of days each, all in years that have returns."""
    for last_day in range(31, 21, -1):
        for year in range(1999, 2003):
            for month in range(1, MONTHS + 1):
                yield JOINED.format(year=year, month=month, last_day=last_day)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each round's times."""
    for axes, (question, ways) in zip(
        figure.subplots(1, len(QUESTIONS)), measurement.samples.items(), strict=True
    ):
        for way, times in ways.items():
            axes.plot(times["took"], label=way, marker="o", linestyle="none")
        axes.set(title=question, xlabel="round", ylabel="ms", ylim=0)
        axes.legend()


def _body(sql: str, joined: str, way: str) -> dict[str, Any]:
    pruning = {"minTableBytes": 0, "rewrites": REWRITES[way]}
    text = sql.format(joined=joined)
    return {"sql": text, "catalog": "lake", "schema": "tpcds", "dynamicFiltering": pruning}


def _faults(found: Asked, way: str) -> list[str]:
    kinds = {rewrite["rewrite"] for rewrite in found.explanation["rewrites"]}
    is_once = RewriteKind.ONE_READING.value in kinds
    is_cold = found.sources == {"COLLECTED"}
    return [] if is_cold and is_once == (way == ONCE) else [f"{way}: {sorted(kinds)}, keys {found.sources}"]


def _rows(samples: Samples, faults: list[str]) -> list[Row]:
    rows = [Row("samples that are not as they should be", len(faults), "", target="none", is_met=not faults)]
    for question, ways in samples.items():
        once, twice = ways[ONCE]["took"], ways[TWICE]["took"]
        value = statistics.median(twice) / statistics.median(once)
        ratios = [slow / fast for slow, fast in zip(twice, once, strict=True)]
        rows.append(Row(f"{question}: how many times as fast", value, "times", min(ratios), max(ratios)))
        for way, times in ways.items():
            rows.append(spread(f"{question}, {way}", times["took"]))
            rows.append(spread(f"{question}, {way}: planning", times["planning"]))
    return rows
