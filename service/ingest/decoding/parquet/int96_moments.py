"""Reads moments that Parquet holds as INT96, a day and nanoseconds, which no Arrow type covers entirely.

Arrow computes them in one unit, modulo 64 bits and truncated to the unit, so each unit alone gives some wrong
moments. Microseconds, nanoseconds and milliseconds together show which are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from service.errors.ingest_errors import IngestInvalid

# The years 1 to 9999, and the range of nanoseconds, both in milliseconds.
_YEARS_MS = (-62_135_596_800_000, 253_402_300_799_999)
_NANOSECONDS_MS = (-(2**63) // 10**6 + 1, 2**63 // 10**6 - 1)


@dataclass(frozen=True, slots=True)
class Int96Batch:
    """The same rows in three units; the last two need only the columns with such moments."""

    microseconds: pa.RecordBatch
    nanoseconds: pa.RecordBatch
    milliseconds: pa.RecordBatch


def int96_moments(batch: Int96Batch) -> Iterator[pa.RecordBatch]:
    """Yields all rows in parts, each in a unit that gives its moments exactly; column types may change.

    A moment outside of the years 1 to 9999 is in milliseconds, without smaller fractions.

    Raises:
        IngestInvalid: a moment has nanoseconds, and is outside of their range.
    """
    rows = batch.microseconds.num_rows
    if rows == 0:
        return
    is_within = _all_within(batch.milliseconds, _YEARS_MS)
    is_whole = _is_whole(batch)
    if is_within and is_whole:
        yield batch.microseconds
    elif _all_within(batch.milliseconds, _NANOSECONDS_MS):
        yield _with(batch.microseconds, batch.nanoseconds)
    elif rows > 1:
        half = rows // 2
        yield from int96_moments(_part(batch, 0, half))
        yield from int96_moments(_part(batch, half, rows - half))
    elif not is_within:
        yield _with(batch.microseconds, batch.milliseconds)
    else:
        raise IngestInvalid(
            "A moment of type INT96 has nanoseconds, and lies outside of the years 1678 to 2261."
        )


def _is_whole(batch: Int96Batch) -> bool:
    """Returns whether no moment has less than microseconds; both numbers are the moment modulo 64 bits."""
    pairs = zip(
        _numbers(_of(batch.microseconds, batch.nanoseconds)), _numbers(batch.nanoseconds), strict=True
    )
    return all(
        pc.all(pc.equal(pc.multiply(coarse, 1000), fine)).as_py() is not False for coarse, fine in pairs
    )


def _all_within(milliseconds: pa.RecordBatch, bounds: tuple[int, int]) -> bool:
    first, last = (pa.scalar(bound, pa.int64()) for bound in bounds)
    within = (
        pc.and_(pc.greater_equal(numbers, first), pc.less_equal(numbers, last))
        for numbers in _numbers(milliseconds)
    )
    return all(pc.all(check).as_py() is not False for check in within)


def _numbers(batch: pa.RecordBatch) -> Iterator[pa.Array]:
    for column in batch.columns:
        yield from _numbers_in(column)


def _numbers_in(array: pa.Array) -> Iterator[pa.Array]:
    kind = array.type
    if types.is_timestamp(kind):
        yield array.cast(pa.int64())
    elif types.is_struct(kind):
        for child in array.flatten():
            yield from _numbers_in(child)
    elif types.is_map(kind):
        # After `take`, the entries are only those of these rows.
        fresh = array.take(pa.array(range(len(array)), pa.int32()))
        yield from _numbers_in(fresh.keys)
        yield from _numbers_in(fresh.items)
    elif types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        yield from _numbers_in(array.flatten())


def _of(batch: pa.RecordBatch, other: pa.RecordBatch) -> pa.RecordBatch:
    return batch.select(other.schema.names)


def _with(batch: pa.RecordBatch, other: pa.RecordBatch) -> pa.RecordBatch:
    """Returns the batch with its columns replaced by those of the other one."""
    names = batch.schema.names
    columns = [other.column(name) if name in other.schema.names else batch.column(name) for name in names]
    return pa.RecordBatch.from_arrays(columns, names=names)


def _part(batch: Int96Batch, start: int, count: int) -> Int96Batch:
    return Int96Batch(
        batch.microseconds.slice(start, count),
        batch.nanoseconds.slice(start, count),
        batch.milliseconds.slice(start, count),
    )
