"""A table of 100,000 data files; a dimension selects 1 % of them.

This measures the cost of planning when the engine must list every file before it prunes at run time. The
table has 100 manifests of 1,000 files each, ten days a manifest, as a stream leaves them. The dimension has
1,000 days, and a period has ten of them. Each round takes another period, so that no files of the last one
are cached, and its filter is collected before. Two gateway processes take turns: one with every cache on, as
in the measure of stock Spark, and one with the default settings and `dynamicFiltering.enabled: false`. There
are five rounds to warm up, seven to measure. *Planning of the scan* is Iceberg's own report of the time to
choose the files; without a filter, Spark does it while the query already runs. *Before it runs* is the
gateway's own step and the engine's planning, as `GET /explain` reports them.
"""

from __future__ import annotations

import statistics
from typing import Any

from matplotlib.figure import Figure

from bench.asked import Asked, ask
from bench.client import Client
from bench.contest import CACHED, SPARK, Way
from bench.every_cache import stock_and_cached
from bench.lakehouse import Lake
from bench.many_files_table import EVENTS, FILES, MANIFESTS, PERIODS, SCHEMA
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, REMARKS

WARM_UP, ROUNDS = (5, 7) if IS_FULL else (1, 2)
# Repeated questions are fetched into memory in the background: none of these is measured.
PREPARED = 3
TARGET_PLANNING, TARGET_WHOLE = 60.0, 3.0
SQL = (
    f"SELECT count(*) AS events, sum(amount) AS amount FROM {EVENTS} "
    f"JOIN {PERIODS} ON event_day = day WHERE period = :period"
)
KINDS = ("whole query", "planning of the scan", "before it runs", "files", "manifests")


def measure(lake: Lake) -> Measurement:
    """Returns times and files by way."""
    samples: dict[str, dict[str, list[float]]] = {}
    with stock_and_cached(lake) as (peer, ours):
        clients = {SPARK.label: peer, CACHED.label: ours}
        for number in range(WARM_UP + ROUNDS):
            period = 7 + number * (MANIFESTS // (WARM_UP + ROUNDS + 1))
            for _ in range(PREPARED):
                _ask(ours, period, CACHED)
            for way in (SPARK, CACHED) if number % 2 else (CACHED, SPARK):
                asked = _ask(clients[way.label], period, way)
                if number >= WARM_UP:
                    _record(samples.setdefault(way.label, {}), asked)
    return Measurement(_rows(samples), samples, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the medians of each way."""
    axes = figure.subplots()
    for offset, (label, kinds) in enumerate(measurement.samples.items()):
        medians = [statistics.median(kinds[kind]) for kind in KINDS[:3]]
        axes.bar([place + 0.4 * offset for place in range(3)], medians, 0.4, label=label)
    axes.set_xticks([0.2, 1.2, 2.2], KINDS[:3])
    axes.set(yscale="log", ylabel="ms")
    axes.legend()


def _ask(client: Client, period: int, way: Way) -> Asked:
    # The table is small for its number of files; the cost gate counts files and lets it pass.
    body: dict[str, Any] = {"sql": SQL, "parameters": {"period": period}, "catalog": "lake", "schema": SCHEMA}
    return ask(client, body | {"dynamicFiltering": way.dynamic_filtering})


def _record(kinds: dict[str, list[float]], asked: Asked) -> None:
    scans = [scan for scan in asked.explanation["scans"] if scan["table"].endswith(EVENTS)]
    values = (
        asked.took_ms,
        max(1, sum(scan["planningMs"] for scan in scans)),
        asked.planning_ms,
        asked.scan(EVENTS, "dataFiles"),
        asked.scan(EVENTS, "manifests"),
    )
    for kind, value in zip(KINDS, values, strict=True):
        kinds.setdefault(kind, []).append(value)


def _rows(samples: dict[str, dict[str, list[float]]]) -> list[Row]:
    spark, ours = samples[SPARK.label], samples[CACHED.label]
    targets = {KINDS[0]: TARGET_WHOLE, KINDS[1]: TARGET_PLANNING}
    rows = [_ratio(kind, spark[kind], ours[kind], targets.get(kind)) for kind in KINDS[:3]]
    for label, kinds in samples.items():
        rows += [spread(f"{label}: {kind}", kinds[kind], "ms" if kind in KINDS[:3] else "") for kind in KINDS]
    return [*rows, Row("files of the table", FILES, "")]


def _ratio(kind: str, peer: list[float], ours: list[float], target: float | None) -> Row:
    ratios = [one / other for one, other in zip(peer, ours, strict=True)]
    value = statistics.median(peer) / statistics.median(ours)
    text = None if target is None else f"≥ {target:g}"
    is_met = None if target is None else value >= target
    return Row(
        f"{kind}: Spark's own to cached filter", value, "times", min(ratios), max(ratios), text, is_met
    )
