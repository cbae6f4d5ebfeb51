"""All 103 TPC-DS texts as if for the first time, and by Spark alone.

This measures that pruning never costs more than it saves, even where nothing is known yet. Two gateway
processes on the same tables take turns: one with every cache on, as in the measure of stock Spark, and one
with the default settings, asked with `dynamicFiltering.enabled: false`. Before each query, the first one
forgets all filters, all rows in memory, and what queries made of them (`DELETE /caches/…`). Each text runs
over TPC-DS at scale 1: two rounds of all to warm up, three that count. A ratio is that of the medians; in
brackets are the extremes of single rounds. Texts under 0.95 are asked once more, by themselves: two rounds
to warm up, seven that count. These decide which text is the smallest. Each JVM has 6 GB.
"""

from __future__ import annotations

import time

from matplotlib.figure import Figure

from bench.contest import FIRST, SPARK, Contest
from bench.every_cache import stock_and_cached
from bench.lakehouse import Lake
from bench.measurement import Measurement
from bench.ratios import draw_ratios, ratios
from bench.tpcds_lake import IS_FULL, REMARKS, TABLES
from bench.tpcds_ratios import HEAP, RatiosOfTexts, say_round
from bench.tpcds_texts import tpcds_texts

WARM_UP, ROUNDS = (2, 3) if IS_FULL else (1, 1)
TARGETS = (1.3, 0.9)


def measure(lake: Lake) -> Measurement:
    """Returns times by text and way, and their ratios."""
    queries = {name: {"sql": text, **TABLES} for name, text in tpcds_texts(lake).items()}
    began = time.monotonic()
    with stock_and_cached(lake, HEAP) as (peer, ours):
        contest = Contest(ours, queries, (SPARK, FIRST), peer)
        for number in range(WARM_UP):
            contest.warm_up(1)
            say_round(f"round {number + 1} of {WARM_UP} to warm up", began)
        for number in range(ROUNDS):
            contest.round(lambda _: True)
            say_round(f"round {number + 1} of {ROUNDS}", began)
        found = RatiosOfTexts(FIRST, contest, TARGETS)
        found.ask_again(peer, ours, queries)
    return Measurement(found.rows(), contest.samples, (*REMARKS, *dict.fromkeys(found.faults)))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each text's ratio."""
    figure.set_size_inches(10, 18)
    found = {name: row.value for name, row in ratios(measurement.samples, FIRST).items()}
    draw_ratios(figure.subplots(), found, TARGETS)
