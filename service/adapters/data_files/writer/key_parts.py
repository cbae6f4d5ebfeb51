"""Splits an upsert's rows by their keys, so that many processes can write it at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.transforms import BucketTransform

from service.adapters.data_files.layout.arrow_transforms import transformed
from service.adapters.data_files.layout.partitions import grouped
from service.adapters.data_files.plan.cached_plan import cached_delete_plan
from service.adapters.data_files.plan.file_plan import FilePlan
from service.adapters.data_files.plan.writer_state import WriterState
from service.model.ingest.writing import WriteTarget
from service.model.tables.transforms import is_made_of

# Primes, so that a value of any column moves a key to any part.
_HASHES = 2**31 - 1
_FACTOR = 1_000_003


def key_parts(
    state: WriterState, target: WriteTarget, rows: pa.RecordBatch, count: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yields the rows in their order, with the number of a part, which is below `count`.

    Rows with equal keys are always in the same part, in every process, call and batch.

    Raises:
        IngestInvalid: the keys of this target cannot distinguish rows.
        RecordsInvalid: a value does not fit its column.
    """
    if rows.num_rows == 0:
        return
    plan = cached_delete_plan(state, target)
    names = [field.name for field in plan.schema.fields]
    codes = _codes(plan, plan.shape.table([rows.select(names)]), count)
    order, ends = grouped([codes])
    start = 0
    for end in ends:
        numbers = order.slice(start, end - start)
        yield codes[numbers[0].as_py()].as_py(), rows if len(numbers) == rows.num_rows else rows.take(numbers)
        start = end


def _codes(plan: FilePlan, keys: pa.Table, count: int) -> pa.Array:
    """Combines Iceberg buckets, which depend only on values. Keys without any are all in one part."""
    codes: pa.Array = pa.array([0] * keys.num_rows, pa.int64())
    transform: BucketTransform[Any] = BucketTransform(_HASHES)
    for field_id in plan.equality_field_ids:
        place = plan.places[field_id]
        if is_made_of(str(transform), str(place.kind)):
            buckets = transformed(transform, place.kind, place.values(keys))
            # NULL is a value like any other.
            number = buckets.cast(pa.int64()).fill_null(0)
            codes = _modulo(pc.add(pc.multiply(codes, _FACTOR), number), _HASHES)
    return _modulo(codes, count)


def _modulo(values: pa.Array, count: int) -> pa.Array:
    # Arrow has no remainder function. None of these numbers is negative.
    return pc.subtract(values, pc.multiply(pc.divide(values, count), count))
