"""The star queries of TPC-DS, with and without rows that are kept hashed.

This measures what `SLUICE_HASH_RELATIONS_MAX_BYTES` saves: the engine then keeps the filtered and hashed rows
of small tables for the next query. Two gateway processes on the same tables answer the twelve star queries
and a join of returns and dates over TPC-DS at scale 1, one with 128 MiB for such rows, one with none. Both
prune by cached filters, and have the small tables in memory. There are ten rounds to warm up and nine to
measure. The two take turns, each first in every other round; the rows of the results are not sent, but their
number is compared. A ratio is that of the medians; in brackets are the smallest and the largest of single
rounds.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping

from matplotlib.figure import Figure

from bench.asked import Asked, ask
from bench.client import Client
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake, share_jars
from bench.measurement import Measurement, Row, spread
from bench.ratios import draw_ratios
from bench.star_queries import star_queries
from bench.tpcds_lake import IS_FULL, PRUNED, REMARKS

WARM_UP, ROUNDS = (10, 9) if IS_FULL else (2, 3)
KEPT, ANEW = "kept", "made anew"
KEPT_BYTES = 128 << 20
Samples = dict[str, dict[str, list[float]]]
"""By query and way: milliseconds, one sample for each round."""


def measure(lake: Lake) -> Measurement:
    """Returns times by query and way, and their ratios."""
    other = lake.data_dir / "kept-rows"
    share_jars(lake.data_dir, other)
    keeping = {"SLUICE_DATA_DIR": str(other), "SLUICE_HASH_RELATIONS_MAX_BYTES": str(KEPT_BYTES)}
    queries = star_queries(lake)
    samples: Samples = {name: {KEPT: [], ANEW: []} for name in queries}
    faults: list[str] = []
    with (
        gateway_process(lake.environment()) as plain,
        gateway_process(lake.environment() | keeping) as kept,
    ):
        clients = {ANEW: Client(plain.url), KEPT: Client(kept.url)}
        for number in range(WARM_UP + ROUNDS):
            for name, body in queries.items():
                order = (KEPT, ANEW) if number % 2 else (ANEW, KEPT)
                asked = {way: ask(clients[way], {**body, "dynamicFiltering": PRUNED}) for way in order}
                faults += _faults(name, asked)
                if number >= WARM_UP:
                    for way, answer in asked.items():
                        samples[name][way].append(answer.took_ms)
    return Measurement(_rows(samples, faults), samples, (*REMARKS, *dict.fromkeys(faults)))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the ratio of each query."""
    found = {name: _ratio(name, ways).value for name, ways in measurement.samples.items()}
    axes = figure.subplots()
    draw_ratios(axes, found, (1,))
    axes.set_xlabel("times as fast as with rows that are made anew")


def _faults(name: str, asked: Mapping[str, Asked]) -> list[str]:
    counts = {way: answer.row_count for way, answer in asked.items()}
    return [f"{name}: other numbers of rows: {counts}"] if len(set(counts.values())) > 1 else []


def _ratio(name: str, ways: Mapping[str, list[float]]) -> Row:
    value = statistics.median(ways[ANEW]) / statistics.median(ways[KEPT])
    rounds = [anew / kept for anew, kept in zip(ways[ANEW], ways[KEPT], strict=True)]
    return Row(name, value, "times", min(rounds), max(rounds))


def _rows(samples: Samples, faults: list[str]) -> list[Row]:
    ratios = [_ratio(name, ways) for name, ways in samples.items()]
    mean = statistics.geometric_mean([row.value for row in ratios])
    return [
        Row("geometric mean", mean, "times", target="≥ 1.1", is_met=mean >= 1.1),
        Row("answers with other numbers of rows", len(faults), "", target="none", is_met=not faults),
        *ratios,
        *(spread(f"{name}: {way}", times) for name, ways in samples.items() for way, times in ways.items()),
    ]
