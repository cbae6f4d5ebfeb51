"""The star queries of TPC-DS by a gateway with every cache on, and by stock Spark.

This measures what a caller gains over a warm Spark that was left as it comes. Two gateway processes on the
same tables take turns. The peer has the default settings, and is asked with `dynamicFiltering.enabled:
false`: it is Spark's own pruning, and has none of the caches. The other has memory for tables of up to
150,000 rows and for their hashed rows, for small files and footers, and for the entries of manifests. It
plans small queries once, and keeps the plans of texts. It is asked with filters that are forgotten just
before (`DELETE /filters`), and with cached ones.

Twelve star queries and a join of returns and dates run over TPC-DS at scale 1, with facts partitioned by day.
Times are those of the client, over HTTP, with the rows as JSON, one query right after the other. There are
fifteen rounds to warm up and fifteen to measure. The numbers of rows are compared in each round. A ratio is
that of the medians; in brackets are the smallest and the largest of single rounds.
"""

from __future__ import annotations

import statistics
import time
from typing import Any

import orjson
from matplotlib.figure import Figure

from bench.client import Client
from bench.contest import CACHED, COLD, SPARK, Samples, Way, empty
from bench.every_cache import stock_and_cached
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.ratios import ratios, summary
from bench.star_queries import star_queries
from bench.tpcds_lake import IS_FULL, REMARKS

WARM_UP, ROUNDS = (15, 15) if IS_FULL else (2, 3)
TARGETS = ((CACHED, 2.8, 1.5), (COLD, 2.0, 1.0))
WAYS = (SPARK, COLD, CACHED)


def measure(lake: Lake) -> Measurement:
    """Returns times by query and way, and their ratios."""
    queries = star_queries(lake)
    samples: Samples = {name: {way.label: [] for way in WAYS} for name in queries}
    faults: list[str] = []
    with stock_and_cached(lake) as (peer, ours):
        clients = {SPARK.label: peer, COLD.label: ours, CACHED.label: ours}
        for number in range(WARM_UP + ROUNDS):
            for name, body in queries.items():
                counts = {}
                for way in WAYS if number % 2 else (*WAYS[1:], WAYS[0]):
                    took_ms, counts[way.label] = _ask(clients[way.label], body, way)
                    if number >= WARM_UP:
                        samples[name][way.label].append(took_ms)
                if len(set(counts.values())) > 1:
                    faults.append(f"{name}: other numbers of rows: {counts}")
    return Measurement(_rows(samples, faults), samples, (*REMARKS, *dict.fromkeys(faults)))


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws each query's medians."""
    axes = figure.subplots()
    names = list(measurement.samples)
    for offset, way in enumerate(WAYS):
        medians = [statistics.median(measurement.samples[name][way.label]) for name in names]
        axes.bar([place + 0.27 * offset for place in range(len(names))], medians, 0.27, label=way.label)
    axes.set_xticks([place + 0.27 for place in range(len(names))], names)
    axes.set_ylabel("ms")
    axes.legend()


def _ask(client: Client, body: dict[str, Any], way: Way) -> tuple[float, int]:
    """Returns the milliseconds until the rows are here, and how many there are."""
    empty(client, way)
    began = time.perf_counter()
    status, answer = client.query({**body, "dynamicFiltering": way.dynamic_filtering})
    took_ms = (time.perf_counter() - began) * 1000
    if status != 200:
        raise RuntimeError(f"{status}: {answer[:500]!r}")
    return took_ms, orjson.loads(answer)["manifest"]["totalRowCount"]


def _rows(samples: Samples, faults: list[str]) -> list[Row]:
    found = [(way, ratios(samples, way), mean, least) for way, mean, least in TARGETS]
    return [
        *(row for way, by_query, mean, least in found for row in summary(by_query, way, mean, least)),
        Row("answers with other numbers of rows", len(faults), "", target="none", is_met=not faults),
        *(row for _, by_query, _, _ in found for row in by_query.values()),
        *(
            spread(f"{name}: {label}", times)
            for name, ways in samples.items()
            for label, times in ways.items()
        ),
    ]
