"""A micro-batch of 20,000 rows in 50 log types, into a table of 500 columns.

This measures the gain of writing only the columns that a log type has. Fifty Arrow tables of 400 rows and 40
columns each, the same for all three ways, are written and committed in turn. The ways are the gateway's
writer and committer (no HTTP, no ingest log), PyIceberg's `append` of one padded Arrow table, and Spark's
`writeTo(…).append()` of the same on a warm session. The padding is part of both peers' time. Two rounds warm
up, seven are measured; the order changes with the round. All tables are format version 2, zstd level 3; Spark
writes without a shuffle. One layout is a table partitioned by log type, as most logs are and as the targets
assume: padded files are small there, and each has 500 columns. The other is unpartitioned: a peer puts all
types into one padded file, and there is much less to gain.

The ratio to Spark is limited because one process writes: two files at a time, since more gain nothing. In a
run in which a batch took 0.19 s, writing 50 files of 40 columns took 0.12, moving them to the disk 0.01, and
the commit in one snapshot 0.04, with a manifest whose entries describe 500 columns each. A file took 3.7 ms
of CPU: 2.1 to encode and compress 40 short columns in Arrow, 0.3 to open and close it there, and the rest in
Python, which runs one thread at a time. Runs of one day, with small changes between them, gave 12.6, 13.4 and
15.3.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

from matplotlib.figure import Figure

from bench.hosted_gateway import hosted_gateway
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, REMARKS, open_catalog
from bench.wide_logs import log_types
from bench.wide_tables import make_table
from bench.writers import Projected, PyIcebergPadded, SparkPadded, Written, timed

ROWS = 20_000
WARM_UP, ROUNDS = (2, 7) if IS_FULL else (1, 2)
OURS, PYICEBERG, SPARK = "projected", "PyIceberg, padded", "Spark, padded"
LAYOUTS = {"by log type": True, "not partitioned": False}
TARGETS = {PYICEBERG: 6.0, SPARK: 15.0}
TARGET_BYTES = 2.5

Samples = dict[str, dict[str, list[Written]]]


def measure(lake: Lake) -> Measurement:
    """Returns rows per second and bytes of all three, by layout."""
    samples: Samples = {}
    with hosted_gateway(lake) as hosted:
        for layout, is_partitioned in LAYOUTS.items():
            samples[layout] = _contest(lake, hosted.spark, is_partitioned=is_partitioned)
    rows = [
        row
        for layout, sample in samples.items()
        for row in _rows(layout, sample, has_targets=LAYOUTS[layout])
    ]
    shown = {
        f"{layout}: {way}": [{"took_s": run.took_s, "bytes": run.added_bytes} for run in found]
        for layout, ways in samples.items()
        for way, found in ways.items()
    }
    return Measurement(rows, shown, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws seconds and bytes, side by side."""
    left, right = figure.subplots(1, 2)
    names = list(measurement.samples)
    for axes, kind, factor, label in ((left, "took_s", 1.0, "s"), (right, "bytes", 1e-6, "MB")):
        medians = [statistics.median(sample[kind] for sample in measurement.samples[name]) for name in names]
        axes.barh(names, [median * factor for median in medians])
        axes.invert_yaxis()
        axes.set_xlabel(label)
    right.set_yticklabels([])


def _contest(lake: Lake, spark: Any, *, is_partitioned: bool) -> dict[str, list[Written]]:
    names = {
        way: make_table(lake, way.partition(",")[0].lower(), is_partitioned=is_partitioned)
        for way in (OURS, PYICEBERG, SPARK)
    }
    found: dict[str, list[Written]] = {name: [] for name in names}
    with ExitStack() as stack:
        writers = {
            OURS: Projected(lake, names[OURS], stack).write,
            PYICEBERG: PyIcebergPadded(lake, names[PYICEBERG], stack, ROWS).write,
            SPARK: SparkPadded(spark, names[SPARK]).write,
        }
        catalog = stack.enter_context(open_catalog(lake))
        tables = {way: catalog.load_table(name.removeprefix("lake.")) for way, name in names.items()}
        types = log_types()
        for number in range(WARM_UP + ROUNDS):
            batches = [log_type.rows(ROWS // len(types), number) for log_type in types]
            ways = list(writers)
            for way in (*ways[number % 3 :], *ways[: number % 3]):
                written = timed(writers[way], batches, tables[way])
                if number >= WARM_UP:
                    found[way].append(written)
    return found


def _rows(layout: str, found: dict[str, list[Written]], *, has_targets: bool) -> Sequence[Row]:
    ours = found[OURS]
    rows = [
        spread(f"{layout}: {way}", [ROWS / run.took_s for run in of], "rows/s") for way, of in found.items()
    ]
    for peer, target in TARGETS.items():
        ratios = [other.took_s / own.took_s for own, other in zip(ours, found[peer], strict=True)]
        rows.append(_ratio(f"{layout}: rows/s, projected to {peer}", ratios, target if has_targets else None))
    smaller = [other.added_bytes / own.added_bytes for own, other in zip(ours, found[PYICEBERG], strict=True)]
    rows.append(
        _ratio(f"{layout}: bytes, {PYICEBERG} to projected", smaller, TARGET_BYTES if has_targets else None)
    )
    rows += [
        spread(f"{layout}: {way}, bytes", [run.added_bytes / 1e6 for run in of], "MB")
        for way, of in found.items()
    ]
    return rows


def _ratio(label: str, values: Sequence[float], target: float | None) -> Row:
    value = statistics.median(values)
    text = None if target is None else f"≥ {target:g}"
    is_met = None if target is None else value >= target
    return Row(label, value, "times", min(values), max(values), text, is_met)
