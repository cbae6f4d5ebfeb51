"""Rows of an upsert by the part that their keys belong to, so that many can write it at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.transforms import BucketTransform

from service.adapters.data_files.layout.partitions import grouped
from service.adapters.data_files.layout.transforms import transformed
from service.adapters.data_files.plan.file_plan import FilePlan
from service.adapters.data_files.plan.kept_plan import kept_plan_of_deletes
from service.adapters.data_files.plan.writer_state import WriterState
from service.model.ingest.writing import WriteTarget
from service.model.tables.transforms import is_made_of

# Primes, so that a value of any column moves a key to any part.
_HASHES = 2**31 - 1
_FACTOR = 1_000_003


def key_parts(
    state: WriterState, target: WriteTarget, rows: pa.RecordBatch, count: int
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows in their order, by the number of a part below `count`.

    Rows whose keys are equal are in one part, wherever and whenever this is asked, of whatever batches.

    Raises:
        IngestInvalid: the keys of this target tell no rows apart.
        RecordsInvalid: a value does not fit its column.
    """
    if rows.num_rows == 0:
        return
    plan = kept_plan_of_deletes(state, target)
    names = [each.name for each in plan.schema.fields]
    codes = _codes(plan, plan.shape.table([rows.select(names)]), count)
    order, ends = grouped([codes])
    start = 0
    for end in ends:
        numbers = order.slice(start, end - start)
        yield codes[numbers[0].as_py()].as_py(), rows if len(numbers) == rows.num_rows else rows.take(numbers)
        start = end


def _codes(plan: FilePlan, keys: pa.Table, count: int) -> pa.Array:
    """Made of what has an Iceberg bucket, which depends on its value alone; without any, all is one part."""
    codes: pa.Array = pa.array([0] * keys.num_rows, pa.int64())
    transform: BucketTransform[Any] = BucketTransform(_HASHES)
    for field_id in plan.equality_field_ids:
        place = plan.places[field_id]
        if is_made_of(str(transform), str(place.kind)):
            buckets = transformed(transform, place.kind, place.values(keys))
            # NULL is a value as any other.
            number = buckets.cast(pa.int64()).fill_null(0)
            codes = _modulo(pc.add(pc.multiply(codes, _FACTOR), number), _HASHES)
    return _modulo(codes, count)


def _modulo(values: pa.Array, count: int) -> pa.Array:
    # Arrow has no remainder of its own; none of these is negative.
    return pc.subtract(values, pc.multiply(pc.divide(values, count), count))
