"""Compares the rows of two results in any order."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pyarrow as pa

# Sums of floating point numbers depend on the order of the rows beyond these digits.
SIGNIFICANT_DIGITS = 9


def same_rows(left: pa.Table, right: pa.Table) -> bool:
    """Whether each row occurs equally often in both; floating point numbers to nine digits."""
    return left.num_rows == right.num_rows and _counted(left) == _counted(right)


def _counted(rows: pa.Table) -> Counter[str]:
    columns = [[value for chunk in column.chunks for value in _comparable(chunk)] for column in rows.columns]
    return Counter(repr(row) for row in zip(*columns, strict=True))


def _comparable(array: pa.Array) -> list[object]:
    """Returns values that are equal if the array's are; also for types that Python has no objects for."""
    kind = array.type
    if pa.types.is_struct(kind):
        fields = [_comparable(child) for child in array.flatten()]
        return _with_nulls(array, list(zip(*fields, strict=True)) or [()] * len(array))
    if pa.types.is_map(kind):
        return _cut(array, pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"]))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _cut(array, array.values)
    if pa.types.is_floating(kind):
        return [
            None if value is None else float(f"{value:.{SIGNIFICANT_DIGITS}g}") for value in array.to_pylist()
        ]
    if pa.types.is_temporal(kind):
        return _plain(array.view(pa.int32() if kind.bit_width == 32 else pa.int64()))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        # Spark does not promise that a STRING is UTF-8.
        return _plain(array.cast(pa.large_binary()))
    return _plain(array)


def _plain(array: pa.Array) -> list[object]:
    values: list[object] = array.to_pylist()
    return values


def _cut(array: pa.Array, elements: pa.Array) -> list[object]:
    offsets = array.offsets.to_pylist()
    values = _comparable(elements.slice(offsets[0], offsets[-1] - offsets[0]))
    rows: list[object] = [values[start - offsets[0] : end - offsets[0]] for start, end in pairwise(offsets)]
    return _with_nulls(array, rows)


def _with_nulls(array: pa.Array, rows: list[object]) -> list[object]:
    is_valid = array.is_valid().to_pylist()
    return [row if valid else None for row, valid in zip(rows, is_valid, strict=True)]
