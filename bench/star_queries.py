"""The star queries of TPC-DS, narrowed by the gateway and pruned by Spark alone.

Whether filters that are collected, cached and written into the query beat the runtime pruning that Spark has
itself, where that works. Twelve star queries and a join of returns and dates over TPC-DS at scale 1, with
facts partitioned by day: each is asked with `dynamicFiltering.enabled: false`, which leaves it to Spark; with
all filters forgotten just before (`DELETE /filters`); and with cached filters. Ten rounds to warm up, nine
to measure, the ways in turn within each; the rows of the results are not sent. What the gateway holds of
small tables in the engine's memory is no filter, and stays. A ratio is that of the medians; in brackets are
the smallest and the largest of single rounds.

What limits the ratio is what both ways do alike once Spark prunes by partitions, and keeps compiled code
and manifests (before, the geometric mean was 1.8: the peer took half as long again, the narrowed queries a
quarter). Of q42 with a cached filter, 150 ms by the clock in a profile of 100 queries: 23 pass before the
query runs, 8 of them in Spark's parser and analyzer; 33 plan it, 21 of them unpack and decode a manifest of
1,823 files, which both must read; 46 wait for two broadcasts, of rows that lie in the driver already, and
for the scan of 30 files; 10 send the table's metadata to the executors, three times, as Iceberg does for
each copy that Spark makes of a scan; 9 are the last stage. Of q7, 505 ms: 130 plan, 80 broadcast, 235 read
366 files, a file being opened and read in 0.9 ms of CPU, a sixth of it Hadoop's configuration, copied for
each by Iceberg's reader. Without adaptive execution the peer gains a sixth, the narrowed queries nothing.

Of q98 with a filter collected anew, 874 ms in a profile of nine rounds that were less warm (979 of Spark's
own, 578 cached): 209 collect, one of the six jobs among them; 150 plan and 266 run, where Spark's own plans
for 266 and runs for 606, in five jobs. All read 30 of 1,824 files.

The rounds before are many since Java goes on compiling: after a hundred queries its compilers still take a
third of all CPU, after a thousand a tenth.
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
    """Times by query and way, and their ratios."""
    with gateway_process(lake.environment()) as gateway:
        contest = Contest(Client(gateway.url), star_queries(lake), (SPARK, COLD, CACHED))
        contest.warm_up(WARM_UP)
        for _ in range(ROUNDS):
            contest.round(lambda _: True)
    return Measurement(_rows(contest), contest.samples, (*REMARKS, *contest.faults))


def star_queries(lake: Lake) -> dict[str, dict[str, Any]]:
    """The bodies, by the queries' names."""
    texts = tpcds_texts(lake) | {"returns": EXAMPLE}
    return {name: {"sql": texts[name], **TABLES} for name in (*STARS, "returns")}


def draw(figure: Figure, measurement: Measurement) -> None:
    """Each query's medians."""
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
