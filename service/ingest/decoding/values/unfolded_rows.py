"""Splits rows into parts of bounded size, whatever their columns expand to.

A value of a dictionary, a run or a view may occur in many rows, and costs almost nothing until the rows are
written out. Its size is measured before that.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from service.ingest.decoding.streams.read_bounds import Room
from service.ingest.decoding.values.row_bytes import row_bytes, unfolds

_ROWS = 10_000
_PART_BYTES = 4 * 1024**2
LEAST_ROW_BYTES = 8
"""The least size that a row counts for, even an empty one."""


def unfolded_parts(batch: pa.RecordBatch, room: Room) -> Iterator[pa.RecordBatch]:
    """Yields slices of the batch that take about the same memory when they are written out.

    Raises:
        IngestInvalid: a row, or everything so far, exceeds the bounds.
    """
    room.check(batch.num_rows * LEAST_ROW_BYTES)
    for start in range(0, batch.num_rows, _ROWS):
        rows = batch.slice(start, _ROWS)
        folded = [column for column in rows.columns if unfolds(column.type)]
        plain = sum(column.nbytes for column in rows.columns if not unfolds(column.type))
        room.take(max(plain, rows.num_rows * LEAST_ROW_BYTES))
        yield from _cut(rows, folded, room) if folded else (rows,)


def _cut(rows: pa.RecordBatch, folded: list[pa.Array], room: Room) -> Iterator[pa.RecordBatch]:
    sizes = row_bytes(folded[0])
    for column in folded[1:]:
        sizes = pc.add_checked(sizes, row_bytes(column))
    if isinstance(sizes, pa.Scalar):
        sizes = pa.repeat(sizes, rows.num_rows)
    room.check_batch(pc.max(sizes).as_py(), "A row")
    ends: list[int] = pc.cumulative_sum_checked(sizes).to_pylist()
    room.take(ends[-1])
    start = before = 0
    for row, end in enumerate(ends):
        if end - before > _PART_BYTES and row > start:
            yield rows.slice(start, row - start)
            start, before = row, ends[row - 1]
    yield rows.slice(start)
