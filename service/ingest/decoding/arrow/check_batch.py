"""Checks that a batch is consistent: buffers within their bounds, text in UTF-8, and so on."""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types


def check_batch(batch: pa.RecordBatch) -> None:
    """Checks that the batch can be read; times outside of a day are left to the check of their rows.

    Raises:
        ArrowException: it cannot be read.

    >>> check_batch(pa.record_batch({"t": pa.array([-1]).view(pa.time64("us"))}))
    """
    # Checks the bounds of its buffers before they are viewed as other types.
    batch.validate()
    for column in batch.columns:
        _without_times(column).validate(full=True)


def _without_times(array: pa.Array) -> pa.Array:
    kind = _numbers(array.type)
    if kind.equals(array.type):
        return array
    try:
        return array.view(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        # Arrow cannot view every type as another. Then one invalid time rejects the whole batch.
        return array


def _numbers(kind: pa.DataType) -> pa.DataType:
    """Returns the type with numbers of the same size instead of times."""
    if types.is_time32(kind):
        return pa.int32()
    if types.is_time64(kind):
        return pa.int64()
    if types.is_struct(kind):
        return pa.struct([_field(kind.field(index)) for index in range(kind.num_fields)])
    if types.is_list(kind):
        return pa.list_(_field(kind.value_field))
    if types.is_large_list(kind):
        return pa.large_list(_field(kind.value_field))
    if types.is_map(kind):
        return pa.map_(_field(kind.key_field), _field(kind.item_field), kind.keys_sorted)
    return kind


def _field(field: pa.Field) -> pa.Field:
    return field.with_type(_numbers(field.type))
