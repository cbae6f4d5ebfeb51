"""Whether a batch is what it says: buffers in their bounds, text that is UTF-8, and so on."""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types


def check_batch(batch: pa.RecordBatch) -> None:
    """Returns where it can be looked into. Times may lie outside of a day: that is for their rows alone.

    Raises:
        ArrowException: it cannot.

    >>> check_batch(pa.record_batch({"t": pa.array([-1]).view(pa.time64("us"))}))
    """
    # The bounds of its buffers, before they are looked at under other types.
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
        # Arrow cannot look so at every type; then one such time refuses them all.
        return array


def _numbers(kind: pa.DataType) -> pa.DataType:
    """The type with numbers of the same size instead of times."""
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
