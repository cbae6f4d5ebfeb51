"""All 103 TPC-DS texts with Comet, and without it.

This measures what Apache DataFusion Comet adds to a gateway that prunes, and where it does not act. Two
gateway processes on the same tables take turns. Both have every cache on, as in the measure of stock Spark,
and cached filters; one also has Comet, with 2 GB of memory beside its heap. Each text runs over TPC-DS at
scale 1, after two rounds of all to warm up; three rounds count. The numbers of rows are compared in each
round. A ratio is that of the medians; in brackets are the extremes of single rounds.

By each text is the share of the operators of its plan that Comet ran, and the operators that were left to
Spark. Native operators end where rows come that are in memory already: Spark joins them. So the more the
caches do, the less Comet does.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from matplotlib.figure import Figure

from bench.client import Client
from bench.comet_plans import plan_nodes
from bench.contest import Contest, Way
from bench.every_cache import EVERY_CACHE
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake, share_jars
from bench.measurement import Measurement, Row
from bench.ratios import draw_ratios, faults_row, ratios, summary
from bench.tpcds_lake import IS_FULL, PRUNED, REMARKS, TABLES
from bench.tpcds_texts import tpcds_texts

WARM_UP, ROUNDS = (2, 3) if IS_FULL else (1, 1)
WITHOUT = Way("without Comet", PRUNED)
WITH = Way("with Comet", PRUNED)
BOTH: Mapping[str, str] = {**EVERY_CACHE, "SLUICE_SPARK_DRIVER_MEMORY": "6g"}
COMET: Mapping[str, str] = {"SLUICE_COMET": "true", "SLUICE_COMET_MEMORY": "2g"}
MEAN = 1.0


def measure(lake: Lake) -> Measurement:
    """Returns times by text and way, their ratios, and what Comet ran of each text."""
    queries = {name: {"sql": text, **TABLES} for name, text in tpcds_texts(lake).items()}
    folders = {way: lake.data_dir / f"comet-{number}" for number, way in enumerate(("without", "with"))}
    for folder in folders.values():
        share_jars(lake.data_dir, folder)
    settings = {**lake.environment(), **BOTH}
    with (
        gateway_process({**settings, "SLUICE_DATA_DIR": str(folders["without"])}) as without,
        gateway_process({**settings, **COMET, "SLUICE_DATA_DIR": str(folders["with"])}) as native,
    ):
        contest = Contest(Client(native.url), queries, (WITHOUT, WITH), Client(without.url))
        contest.warm_up(WARM_UP)
        for _ in range(ROUNDS):
            contest.round(lambda _: True)
    return Measurement(_rows(contest), contest.samples, (*REMARKS, *dict.fromkeys(contest.faults)))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each text's ratio."""
    figure.set_size_inches(10, 18)
    found = {name: row.value for name, row in ratios(measurement.samples, WITH, WITHOUT).items()}
    draw_ratios(figure.subplots(), found, (), "times as fast as without Comet")


def _rows(contest: Contest) -> list[Row]:
    found = ratios(contest.samples, WITH, WITHOUT)
    nodes = {
        name: plan_nodes(ways[WITH.label].explanation["plans"]["spark"])
        for name, ways in contest.last.items()
        if WITH.label in ways
    }
    shares = [100 * each.share for each in nodes.values()]
    by_share = sorted(found, key=lambda name: -found[name].value)
    return [
        *summary(found, WITH, MEAN, None),
        Row("texts compared", len(found), "", target="all 103", is_met=len(found) == len(contest.samples)),
        faults_row(contest),
        Row("share of operators that Comet ran", statistics.median(shares), "%", min(shares), max(shares)),
        Row("texts of which Comet ran nothing", sum(share == 0 for share in shares), ""),
        *(
            Row(
                f"{name}: {nodes[name].share:.0%} by Comet; by Spark: {_named(nodes[name].by_spark)}",
                found[name].value,
                "times",
                found[name].low,
                found[name].high,
            )
            for name in by_share
        ),
    ]


def _named(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return ", ".join(f"{name} {count}" if count > 1 else name for name, count in ordered) or "nothing"
