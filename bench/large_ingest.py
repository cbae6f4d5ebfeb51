"""A million rows in 50 log types, into a table of 500 columns.

This measures the gain of projected files that are large: it is smaller than for small ones, since NULLs
compress well. For each log type, 20,000 rows in Arrow are written and committed in turn by the gateway's
writer and committer and by PyIceberg's `append` of padded tables (200,000 rows at once, in one transaction: a
million padded rows would take 4 GB of memory). There is one round to warm up and three to measure. Both
tables are unpartitioned, format version 2, zstd level 3. CPU is that of the whole process.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from contextlib import ExitStack

from matplotlib.figure import Figure

from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread
from bench.tpcds_lake import IS_FULL, REMARKS, SCALE, open_catalog
from bench.wide_logs import log_types
from bench.wide_tables import make_table
from bench.writers import Projected, PyIcebergPadded, Written, timed

ROWS = 1_000_000 if IS_FULL else max(50_000, int(1_000_000 * SCALE))
ROWS_AT_ONCE = 200_000
WARM_UP, ROUNDS = (1, 3) if IS_FULL else (0, 1)
OURS, PYICEBERG = "projected", "PyIceberg, padded"
TARGET = 2.2


def measure(lake: Lake) -> Measurement:
    """Returns rows per CPU-second and per second, and bytes, of both."""
    found: dict[str, list[Written]] = {OURS: [], PYICEBERG: []}
    types = log_types()
    batches = [log_type.rows(ROWS // len(types), 1) for log_type in types]
    with ExitStack() as stack:
        ours, theirs = make_table(lake, "large_projected"), make_table(lake, "large_padded")
        writers = {
            OURS: Projected(lake, ours, stack).write,
            PYICEBERG: PyIcebergPadded(lake, theirs, stack, ROWS_AT_ONCE).write,
        }
        catalog = stack.enter_context(open_catalog(lake))
        tables = {OURS: catalog.load_table(ours[5:]), PYICEBERG: catalog.load_table(theirs[5:])}
        for number in range(WARM_UP + ROUNDS):
            for way in (OURS, PYICEBERG) if number % 2 else (PYICEBERG, OURS):
                written = timed(writers[way], batches, tables[way])
                if number >= WARM_UP:
                    found[way].append(written)
    shown = {way: [_shown(run) for run in of] for way, of in found.items()}
    return Measurement(_rows(found), shown, REMARKS)


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws rows per CPU-second, and bytes."""
    left, right = figure.subplots(1, 2)
    for axes, kind, label in ((left, "rows_per_cpu_s", "rows per CPU-second"), (right, "mb", "MB")):
        names = list(measurement.samples)
        axes.bar(
            names, [statistics.median(sample[kind] for sample in measurement.samples[way]) for way in names]
        )
        axes.set_ylabel(label)


def _shown(written: Written) -> dict[str, float]:
    return {
        "rows_per_cpu_s": ROWS / written.cpu_s,
        "rows_per_s": ROWS / written.took_s,
        "mb": written.added_bytes / 1e6,
        "files": written.added_files,
    }


def _rows(found: dict[str, list[Written]]) -> Sequence[Row]:
    ours, theirs = found[OURS], found[PYICEBERG]
    pairs = list(zip(ours, theirs, strict=True))
    cpu = [other.cpu_s / own.cpu_s for own, other in pairs]
    wall = [other.took_s / own.took_s for own, other in pairs]
    size = [other.added_bytes / own.added_bytes for own, other in pairs]
    value = statistics.median(cpu)
    return [
        *(
            spread(f"{way}", [ROWS / run.cpu_s for run in of], "rows per CPU-second")
            for way, of in found.items()
        ),
        Row(
            "rows per CPU-second, projected to padded",
            value,
            "times",
            min(cpu),
            max(cpu),
            f"≥ {TARGET:g}",
            value >= TARGET,
        ),
        spread("rows per second, projected to padded", wall, "times"),
        spread("bytes, padded to projected", size, "times"),
        *(spread(f"{way}: bytes", [run.added_bytes / 1e6 for run in of], "MB") for way, of in found.items()),
    ]
