"""Seconds of CPU to write a million rows of ten columns for HiveServer2's clients.

The columns are the usual ones of a fact table: four whole numbers, a double, a decimal, a date, a timestamp
with fractions, and two texts. They are written in pages of 100,000 rows, as a client fetches them, from
buffers of Arrow. The engine, the network and the client are not part of it.
"""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa
from matplotlib.figure import Figure

from api.hive_server.rows.written_column import written_column
from bench.lakehouse import Lake
from bench.measurement import Measurement, Row, spread

ROWS, PAGE_ROWS, ROUNDS = 1_000_000, 100_000, 5
TARGET_S = 0.8
ALL = "ten columns"


def measure(lake: Lake) -> Measurement:  # noqa: ARG001
    """Returns seconds of CPU by column, and of all together."""
    table = columns()
    samples: dict[str, list[float]] = {name: [] for name in table.column_names}
    for _ in range(ROUNDS):
        for name in table.column_names:
            samples[name].append(_write_s(table[name]))
    samples[ALL] = [sum(taken) for taken in zip(*samples.values(), strict=True)]
    rows = [spread(name, taken, "s") for name, taken in samples.items()]
    best = min(samples[ALL])
    target = f"≤ {TARGET_S} s"
    rows.append(Row("a million rows, the best of five", best, "s", None, None, target, best <= TARGET_S))
    return Measurement(rows, samples)


def columns() -> pa.Table:
    """Returns the rows."""
    numbers = np.random.default_rng(1)
    days = pa.array(numbers.integers(0, 20_000, ROWS), pa.int32()).cast(pa.date32())
    moments = pa.array(numbers.integers(0, 1_700_000_000_000_000, ROWS)).cast(pa.timestamp("us", "UTC"))
    cents = pa.array(numbers.integers(0, 100_000, ROWS)).cast(pa.decimal128(19, 0))
    return pa.table(
        {
            "bigint": pa.array(numbers.integers(0, 1 << 40, ROWS)),
            "int": pa.array(numbers.integers(0, 1 << 30, ROWS), pa.int32()),
            "smallint": pa.array(numbers.integers(0, 100, ROWS), pa.int16()),
            "boolean": pa.array(numbers.integers(0, 2, ROWS)).cast(pa.bool_()),
            "double": numbers.random(ROWS),
            "decimal": cents.cast(pa.decimal128(21, 2)),
            "date": days,
            "timestamp": moments,
            "few texts": pa.array([f"name {number % 1000}" for number in range(ROWS)]),
            "many texts": pa.array([f"row {number}" for number in range(ROWS)]),
        }
    )


def draw(figure: Figure, measurement: Measurement) -> None:
    """Draws the columns."""
    axes = figure.subplots()
    names = [name for name in measurement.samples if name != ALL]
    axes.barh(names, [min(measurement.samples[name]) for name in names])
    axes.set_xlabel("s of CPU")


def _write_s(column: pa.ChunkedArray) -> float:
    began_s = time.process_time()
    for start in range(0, ROWS, PAGE_ROWS):
        written_column(column.slice(start, PAGE_ROWS))
    return time.process_time() - began_s
