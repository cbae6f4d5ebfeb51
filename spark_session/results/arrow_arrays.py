"""Gives arrays from the JVM the types that the caller sees. No value is copied."""

from __future__ import annotations

import pyarrow as pa


def in_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Returns the batch with the types and names of this schema, column by column.

    A batch without columns keeps its number of rows.
    """
    if not len(schema):
        return batch
    columns = [in_type(column, field.type) for column, field in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def in_type(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Returns the array with another type of the same layout: other names, time zones, nullability.

    Spark's Arrow omits the offsets of empty arrays. PyArrow assumes that they are there and reads memory that
    is not: the process dies. So an empty array is rebuilt, at every depth.
    """
    if len(array) == 0:
        return pa.nulls(0, kind)
    if pa.types.is_struct(kind):
        fields = [in_type(array.field(index), kind.field(index).type) for index in range(kind.num_fields)]
        return _of(kind, array, 1, fields)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _of(kind, array, 2, [in_type(array.values, kind.value_type)])
    if pa.types.is_map(kind):
        return _of(kind, array, 2, [_entries(array, kind)])
    if array.type == kind:
        return array
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(array.type) and kind.unit == array.type.unit:
        return _of(kind, array, 2, [])
    return array.cast(kind)


def _entries(array: pa.Array, kind: pa.DataType) -> pa.Array:
    keys, items = in_type(array.keys, kind.key_type), in_type(array.items, kind.item_type)
    return pa.Array.from_buffers(
        pa.struct([kind.key_field, kind.item_field]), len(keys), [None], 0, 0, [keys, items]
    )


def _of(kind: pa.DataType, array: pa.Array, buffer_count: int, children: list[pa.Array]) -> pa.Array:
    # Arrays from a stream begin at the start of their buffers: none is a slice.
    return pa.Array.from_buffers(
        kind, len(array), array.buffers()[:buffer_count], array.null_count, 0, children
    )
