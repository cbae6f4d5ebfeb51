"""Measures how many bytes each row of an array takes when it is written out."""

from __future__ import annotations

from functools import reduce
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

Sizes: TypeAlias = "pa.Array | pa.Scalar"
"""64-bit numbers, one for each row, or one for all."""
_NULL_BYTES = 8
_VIEW_BYTES = 16
# No row may take this much; products of it with lengths are reported as an overflow.
_TOO_MANY = 2**40


def unfolds(kind: pa.DataType) -> bool:
    """Returns whether its values may take more bytes when they are written out than they do now.

    >>> unfolds(pa.list_(pa.dictionary(pa.int8(), pa.string()))), unfolds(pa.list_(pa.string()))
    (True, False)
    """
    if isinstance(kind, pa.BaseExtensionType):
        return unfolds(kind.storage_type)
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind) or types.is_null(kind):
        return True
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return True
    return any(unfolds(kind.field(index).type) for index in range(kind.num_fields))


def row_bytes(array: pa.Array) -> Sizes:
    """Returns the sizes of the rows, without the overhead of lists and structs.

    >>> folded = pa.array(["a", "bb"]).dictionary_encode().take(pa.array([1, 1, 0]))
    >>> row_bytes(folded).to_pylist()
    [10, 10, 9]
    """
    constant = _constant_bytes(array.type)
    if constant is not None:
        return _scalar(constant)
    return _own_bytes(array) if array.type.num_fields == 0 else _nested_bytes(array)


def _own_bytes(array: pa.Array) -> Sizes:
    kind = array.type
    if isinstance(array, pa.ExtensionArray):
        return row_bytes(array.storage)
    if types.is_dictionary(kind):
        return _chosen(row_bytes(array.dictionary), array.indices)
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return _view_bytes(array)
    if types.is_string(kind) or types.is_binary(kind) or _is_large(kind):
        # Includes the wide offsets with which they are written.
        return pc.add(pc.fill_null(pc.binary_length(array), 0).cast(pa.int64()), _scalar(8))
    # Values of other types are never written.
    return _scalar(0)


def _nested_bytes(array: pa.Array) -> Sizes:
    kind = array.type
    if types.is_run_end_encoded(kind):
        # The largest value's size, because the lengths of nested runs are unknown.
        return _largest(row_bytes(array.values))
    if types.is_struct(kind):
        return reduce(pc.add_checked, map(row_bytes, array.flatten()))
    if types.is_map(kind):
        return _map_bytes(array)
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        lengths = pc.fill_null(pc.list_value_length(array), 0).cast(pa.int64())
        return _summed(row_bytes(array.flatten()), lengths)
    return _scalar(0)


def _is_large(kind: pa.DataType) -> bool:
    return bool(types.is_large_string(kind) or types.is_large_binary(kind))


def _scalar(number: int) -> pa.Scalar:
    return pa.scalar(min(number, _TOO_MANY), pa.int64())


def _constant_bytes(kind: pa.DataType) -> int | None:
    if isinstance(kind, pa.BaseExtensionType):
        return _constant_bytes(kind.storage_type)
    if types.is_null(kind):
        return _NULL_BYTES
    if types.is_fixed_size_list(kind):
        child = _constant_bytes(kind.value_type)
        return None if child is None else child * kind.list_size
    if types.is_struct(kind):
        children = [_constant_bytes(kind.field(index).type) for index in range(kind.num_fields)]
        return sum(child or 0 for child in children) if None not in children else None
    if types.is_primitive(kind) or types.is_fixed_size_binary(kind) or types.is_decimal(kind):
        return -(-int(kind.bit_width) // 8)
    return None


def _chosen(sizes: Sizes, indices: pa.Array) -> Sizes:
    return sizes if isinstance(sizes, pa.Scalar) else pc.fill_null(sizes.take(indices), 0)


def _largest(sizes: Sizes) -> pa.Scalar:
    return sizes if isinstance(sizes, pa.Scalar) else _scalar(pc.max(sizes).as_py() or 0)


def _view_bytes(array: pa.Array) -> pa.Array:
    """Returns the sizes of views, whose first four bytes are their length."""
    words = pa.Array.from_buffers(
        pa.int32(), 4 * len(array), [None, array.buffers()[1]], offset=4 * array.offset
    )
    lengths = words.take(pa.array(range(0, 4 * len(array), 4), pa.int64())).cast(pa.int64())
    return pc.add(pc.if_else(array.is_valid(), lengths, _scalar(0)), _scalar(_VIEW_BYTES))


def _map_bytes(array: pa.Array) -> Sizes:
    # After `take`, the entries begin with the first row's, and null rows have none.
    fresh = array.take(pa.array(range(len(array)), pa.int32()))
    offsets = fresh.offsets.cast(pa.int64())
    entries = pc.add_checked(row_bytes(fresh.keys), row_bytes(fresh.items))
    return _summed(entries, pc.subtract(offsets[1:], offsets[:-1]))


def _summed(sizes: Sizes, lengths: pa.Array) -> pa.Array:
    """Returns, for each list, the sum of the sizes of its values."""
    if isinstance(sizes, pa.Scalar):
        return pc.multiply_checked(lengths, sizes)
    zero = pa.array([0], pa.int64())
    before = pa.concat_arrays([zero, pc.cumulative_sum_checked(sizes)])
    ends = pc.cumulative_sum_checked(lengths)
    starts = pc.subtract(ends, lengths)
    return pc.subtract(before.take(ends), before.take(starts))
