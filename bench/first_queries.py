"""The first 200 queries after a start, with and without a warm-up by the queries of the last days.

This measures what `SLUICE_WARM_UP_QUERIES` saves those who ask first. One data directory has a record of the
thirteen star queries of TPC-DS at scale 1. Gateways on it start in turn, with and without a warm-up by the
twenty most frequent queries; each is asked 200 star queries, one right after the other, as soon as it says
that it is ready. There are three starts of each. The warm-up goes on while no query of a caller runs, so a
caller who asks at once shares the machine with it, and gains little; in the third way, the first query comes
60 s after the start.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import cycle, islice
from typing import Any

from matplotlib.figure import Figure

from bench.asked import ask
from bench.client import Client
from bench.every_cache import EVERY_CACHE
from bench.gateway_process import gateway_process
from bench.lakehouse import Lake, share_jars
from bench.measurement import Measurement, Row, percentile, spread
from bench.star_queries import star_queries
from bench.tpcds_lake import IS_FULL, REMARKS

QUERIES, STARTS, RECORDED = (200, 3, 3) if IS_FULL else (26, 1, 1)
PAUSE_S = 60.0 if IS_FULL else 10.0
COLD, WARM, LATER = "no warm-up", "warm-up", "warm-up, a minute later"
WAYS: Mapping[str, tuple[int, float]] = {COLD: (0, 0.0), WARM: (20, 0.0), LATER: (20, PAUSE_S)}
"""The number of queries of the warm-up, and how long after the start the first one is asked."""


def measure(lake: Lake) -> Measurement:
    """Returns the times of the first queries of each start, by way."""
    folder = lake.data_dir / "first-queries"
    share_jars(lake.data_dir, folder)
    settings = {**lake.environment(), **EVERY_CACHE, "SLUICE_DATA_DIR": str(folder)}
    queries = list(star_queries(lake).values())
    with gateway_process(settings) as gateway:
        _times(Client(gateway.url), queries, RECORDED * len(queries))
    samples: dict[str, Any] = {way: [] for way in WAYS}
    ready: dict[str, list[float]] = {way: [] for way in WAYS}
    for number in range(STARTS):
        for way in WAYS if number % 2 else reversed(list(WAYS)):
            count, pause_s = WAYS[way]
            with gateway_process(settings | {"SLUICE_WARM_UP_QUERIES": str(count)}) as gateway:
                time.sleep(pause_s)
                samples[way].append(_times(Client(gateway.url), queries, QUERIES))
                ready[way].append(gateway.ready_s)
    return Measurement(_rows(samples, ready), samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the times of the last start of each way."""
    axes = figure.subplots()
    for way, starts in measurement.samples.items():
        axes.plot(range(1, len(starts[-1]) + 1), starts[-1], ".", label=way)
    axes.set(xlabel="query", ylabel="ms", yscale="log")
    axes.legend()


def _times(client: Client, queries: list[dict[str, Any]], count: int) -> list[float]:
    return [ask(client, body).took_ms for body in islice(cycle(queries), count)]


def _rows(samples: Mapping[str, list[list[float]]], ready: Mapping[str, list[float]]) -> list[Row]:
    rows = []
    for way, starts in samples.items():
        rows += [
            spread(f"{way}: p{percent}", [percentile(times, percent) for times in starts])
            for percent in (50, 95)
        ]
        rows += [
            spread(
                f"{way}: the first {count}, together", [sum(times[:count]) / 1000 for times in starts], "s"
            )
            for count in (len(starts[0]) // 10, len(starts[0]))
        ]
        rows.append(spread(f"{way}: start to ready", ready[way], "s"))
    return rows
