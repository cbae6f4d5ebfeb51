"""The star queries of TPC-DS, pruned by the gateway and by Spark alone.

This measures whether filters that are collected, cached and written into the query are faster than Spark's
own runtime pruning, where that works. Twelve star queries and a join of returns and dates run over TPC-DS at
scale 1, with facts partitioned by day. Each is asked with `dynamicFiltering.enabled: false`, which leaves it
to Spark; with all filters forgotten just before (`DELETE /filters`); and with cached filters. There are ten
rounds to warm up and nine to measure, the ways in turn within each; the rows of the results are not sent.
Small tables that the gateway caches in the engine's memory are not filters, and stay. A ratio is that of the
medians; in brackets are the smallest and the largest of single rounds.

The ratio is limited by work that both ways do alike, once Spark prunes by partitions and keeps compiled code
and manifests. Before that, the geometric mean was 1.8: the peer took half as long again, the pruned queries a
quarter. With a cached filter, q42 takes 150 ms by the clock in a profile of 100 queries. Before the query
runs, 23 pass, 8 of them in Spark's parser and analyzer. Planning takes 33, of which 21 unpack and decode a
manifest of 1,823 files that both must read. Two broadcasts of rows that are already in the driver, and the
scan of 30 files, take 46. Sending the table's metadata to the executors takes 10: Iceberg does it three
times, for each copy that Spark makes of a scan. The last stage takes 9. For q7, it is 505 ms: 130 plan, 80
broadcast, and 235 read 366 files. Opening and reading a file takes 0.9 ms of CPU, a sixth of it for Hadoop's
configuration, which Iceberg's reader copies for each. Without adaptive execution the peer gains a sixth, the
pruned queries nothing.

With a newly collected filter, q98 takes 874 ms in a profile of nine rounds that were less warm (979 with
Spark's own pruning, 578 cached): 209 collect, with one of the six jobs; 150 plan and 266 run. Spark's own way
plans for 266 and runs for 606, in five jobs. All read 30 of 1,824 files.

Many rounds warm up because Java goes on compiling: after a hundred queries its compilers still take a third
of all CPU, after a thousand a tenth.
"""

from __future__ import annotations

import statistics
from typing import Any

from matplotlib.figure import Figure

from bench.client import Client
from bench.contest import CACHED, COLD, SPARK, Contest
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.ratios import faults_row, ratios, summary
from bench.tpcds_lake import IS_FULL, REMARKS, TABLES
from bench.tpcds_texts import EXAMPLE, STARS, tpcds_texts

WARM_UP, ROUNDS = (10, 9) if IS_FULL else (1, 2)
TARGET_CACHED, TARGET_COLD, TARGET_EACH = 2.0, 1.5, 0.95


def measure(lake: Lake) -> Measurement:
    """Returns times by query and way, and their ratios."""
    with gateway_process(lake.environment()) as gateway:
        contest = Contest(Client(gateway.url), star_queries(lake), (SPARK, COLD, CACHED))
        contest.warm_up(WARM_UP)
        for _ in range(ROUNDS):
            contest.round(lambda _: True)
    return Measurement(_rows(contest), contest.samples, (*REMARKS, *contest.faults))


def star_queries(lake: Lake) -> dict[str, dict[str, Any]]:
    """Returns the request bodies, by the queries' names."""
    texts = tpcds_texts(lake) | {"returns": EXAMPLE}
    return {name: {"sql": texts[name], **TABLES} for name in (*STARS, "returns")}


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each query's medians."""
    axes = figure.subplots()
    names = list(measurement.samples)
    for offset, way in enumerate((SPARK, COLD, CACHED)):
        medians = [statistics.median(measurement.samples[name][way.label] or [0]) for name in names]
        axes.bar([place + 0.27 * offset for place in range(len(names))], medians, 0.27, label=way.label)
    axes.set_xticks([place + 0.27 for place in range(len(names))], names)
    axes.set_ylabel("ms")
    axes.legend()


def _rows(contest: Contest) -> list[Row]:
    cached, cold = ratios(contest.samples, CACHED), ratios(contest.samples, COLD)
    return [
        *summary(cached, CACHED, TARGET_CACHED, TARGET_EACH),
        *summary(cold, COLD, TARGET_COLD, TARGET_EACH),
        faults_row(contest),
        *(row for name in cached for row in (cached[name], cold[name])),
        *(
            spread(f"{name}: {label}", times)
            for name, ways in contest.samples.items()
            for label, times in ways.items()
            if times
        ),
    ]
