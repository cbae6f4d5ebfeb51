"""All 103 TPC-DS texts, pruned by the gateway and by Spark alone.

This measures whether pruning pays over a whole workload, and whether any query pays for it. Each text over
TPC-DS at scale 1 is asked with `dynamicFiltering.enabled: false` and with cached filters, in turn, after
three rounds of all to warm up. Every text has the same time, six seconds: quick ones get more rounds, up to
eleven, and those that need longer get two. A ratio is that of the medians; in brackets are the extremes of
single rounds. The JVM has 6 GB instead of the default's 2: q72 as it is written does not fit into those.

Two to five rounds between a hundred other texts cannot show a tenth of half a second, and with so many texts
some come out low by chance. So texts under 0.95 are asked once more, by themselves: two rounds to warm up,
seven that count. These decide whether a text is under 0.9; the mean is that of the first rounds.

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

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure

from bench.client import Client
from bench.contest import CACHED, SPARK, Contest
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row
from bench.ratios import draw_ratios, faults_row, is_whole, ratio_row, ratios, summary
from bench.tpcds_lake import IS_FULL, REMARKS, TABLES
from bench.tpcds_texts import tpcds_texts

WARM_UP, LEAST_ROUNDS, MOST_ROUNDS = (3, 2, 11) if IS_FULL else (1, 1, 1)
HEAP = {"SLUICE_SPARK_DRIVER_MEMORY": "6g"}
SECONDS_EACH = 6.0
WARM_UP_AGAIN, ROUNDS_AGAIN = (2, 7) if IS_FULL else (0, 1)
ASKED_AGAIN_UNDER = 0.95
TARGET_MEAN, TARGET_EACH = 1.2, 0.9
SHOWN = 12


def measure(lake: Lake) -> Measurement:
    """Returns times by text and way, and their ratios."""
    queries = {name: {"sql": text, **TABLES} for name, text in tpcds_texts(lake).items()}
    with gateway_process(lake.environment() | HEAP) as gateway:
        contest = Contest(Client(gateway.url), queries, (SPARK, CACHED))
        contest.warm_up(WARM_UP)
        asked = contest.round(lambda _: True)
        while asked:
            asked = contest.round(lambda name: _needs_more(contest, name))
        low = [name for name, row in ratios(contest.samples, CACHED).items() if row.value < ASKED_AGAIN_UNDER]
        again = {name: _alone(Client(gateway.url), {name: queries[name]}) for name in low}
    faults = [*contest.faults, *(fault for contest in again.values() for fault in contest.faults)]
    return Measurement(_rows(contest, again), contest.samples, (*REMARKS, *faults))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each text's ratio."""
    figure.set_size_inches(10, 18)
    found = {
        name: ratio_row(name, ways, CACHED).value
        for name, ways in measurement.samples.items()
        if is_whole(ways)
    }
    draw_ratios(figure.subplots(), found, (TARGET_EACH, TARGET_MEAN))


def _needs_more(contest: Contest, name: str) -> bool:
    ways = contest.samples[name]
    if not is_whole(ways):
        return False
    count = len(ways[SPARK.label])
    spent_s = sum(map(sum, ways.values())) / 1000
    # Only if the next round still fits.
    is_in_time = spent_s * (count + 1) / count <= SECONDS_EACH
    return count < LEAST_ROUNDS or (count < MOST_ROUNDS and is_in_time)


def _alone(client: Client, query: Mapping[str, Mapping[str, Any]]) -> Contest:
    contest = Contest(client, query, (SPARK, CACHED))
    contest.warm_up(WARM_UP_AGAIN)
    for _ in range(ROUNDS_AGAIN):
        contest.round(lambda _: True)
    return contest


def _rows(contest: Contest, again: Mapping[str, Contest]) -> list[Row]:
    found = ratios(contest.samples, CACHED)
    ordered = sorted(found.values(), key=lambda row: row.value)
    alone = {
        name: ratio_row(f"{name}, alone: {CACHED.label}", rerun.samples[name], CACHED)
        for name, rerun in again.items()
        if is_whole(rerun.samples[name])
    }
    pruned = sum(bool(ways[CACHED.label].sources) for ways in contest.last.values() if CACHED.label in ways)
    under, under_alone = (
        sum(row.value < TARGET_EACH for row in rows) for rows in (found.values(), alone.values())
    )
    counts = [len(sample[SPARK.label]) for sample in contest.samples.values()]
    return [
        *summary(found, CACHED, TARGET_MEAN, None),
        Row(f"texts under {TARGET_EACH:g}, amid the others", under, ""),
        Row(f"texts under {TARGET_EACH:g}, alone", under_alone, "", target="none", is_met=under_alone == 0),
        Row("texts compared", len(found), "", target="all 103", is_met=len(found) == len(contest.samples)),
        Row("texts with a filter applied", pruned, ""),
        Row("rounds", sorted(counts)[len(counts) // 2], "", min(counts), max(counts)),
        faults_row(contest, *again.values()),
        *sorted(alone.values(), key=lambda row: row.value),
        *ordered[:SHOWN],
        *ordered[-SHOWN:][::-1],
    ]
