"""All 103 TPC-DS texts with cached filters, and by Spark alone.

This measures whether pruning pays over a whole workload, and whether any query pays for it. Two gateway
processes on the same tables take turns: one with every cache on, as in the measure of stock Spark, and one
with the default settings, asked with `dynamicFiltering.enabled: false`. Each text runs over TPC-DS at scale
1, after three rounds of all to warm up. Every text has the same time, six seconds: quick ones get more
rounds, up to eleven, and those that need longer get two. A ratio is that of the medians; in brackets are the
extremes of single rounds. Each JVM has 6 GB instead of the default's 2: q72 as it is written does not fit
into those.

Two to five rounds between a hundred other texts cannot show a tenth of half a second, and with so many texts
some come out low by chance. So texts under 0.95 are asked once more, by themselves: two rounds to warm up,
seven that count. These decide which text is the smallest; the mean is that of the first rounds.

The mean is limited because the facts are partitioned by day, so Spark prunes on its own wherever a date
selects. Either way, q47 reads 426 files and q90 all, for the same CPU. The query q72 was almost three times
slower as long as the inventory was read whole; now a year of it is read, 53 of 261 files. The queries q39a
and b, half a second each, read the inventory twice through one common table expression. Both ways read the
same files. They differ by a tenth in most runs, and neither of the rewrites causes that alone (medians of
thirteen rounds: 605 ms, 567 without read options, 621 without rows in memory, 546 with Spark's own pruning).
In a profile of q39a (eleven rounds, 1,045 ms, and 973 with Spark's own pruning) each way runs 8 jobs, and
reads 4 of 261 files for each reference to the inventory with Spark's own pruning on. About 300 ms pass before
the first job and 190 between jobs, both ways. Only the jobs differ, 470 ms against 390, for 290 ms of CPU in
their tasks against 270.
"""

from __future__ import annotations

import time

from matplotlib.figure import Figure

from bench.contest import CACHED, SPARK, Contest
from bench.every_cache import stock_and_cached
from bench.lakehouse import Lake
from bench.measurement import Measurement
from bench.ratios import draw_ratios, is_whole, ratios
from bench.tpcds_lake import IS_FULL, REMARKS, TABLES
from bench.tpcds_ratios import HEAP, RatiosOfTexts, say_round
from bench.tpcds_texts import tpcds_texts

WARM_UP, LEAST_ROUNDS, MOST_ROUNDS = (3, 2, 11) if IS_FULL else (1, 1, 1)
SECONDS_EACH = 6.0
TARGETS = (1.5, 0.95)


def measure(lake: Lake) -> Measurement:
    """Returns times by text and way, and their ratios."""
    queries = {name: {"sql": text, **TABLES} for name, text in tpcds_texts(lake).items()}
    began = time.monotonic()
    with stock_and_cached(lake, HEAP) as (peer, ours):
        contest = Contest(ours, queries, (SPARK, CACHED), peer)
        for number in range(WARM_UP):
            contest.warm_up(1)
            say_round(f"round {number + 1} of {WARM_UP} to warm up", began)
        asked = contest.round(lambda _: True)
        while asked:
            say_round(f"{asked} texts", began)
            asked = contest.round(lambda name: _needs_more(contest, name))
        found = RatiosOfTexts(CACHED, contest, TARGETS)
        found.ask_again(peer, ours, queries)
    return Measurement(found.rows(), contest.samples, (*REMARKS, *dict.fromkeys(found.faults)))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each text's ratio."""
    figure.set_size_inches(10, 18)
    found = {name: row.value for name, row in ratios(measurement.samples, CACHED).items()}
    draw_ratios(figure.subplots(), found, TARGETS)


def _needs_more(contest: Contest, name: str) -> bool:
    ways = contest.samples[name]
    if not is_whole(ways):
        return False
    count = len(ways[SPARK.label])
    spent_s = sum(map(sum, ways.values())) / 1000
    # Only if the next round still fits.
    is_in_time = spent_s * (count + 1) / count <= SECONDS_EACH
    return count < LEAST_ROUNDS or (count < MOST_ROUNDS and is_in_time)
