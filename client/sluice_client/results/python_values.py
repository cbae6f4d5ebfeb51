"""Arrow values as values of Python, where Arrow's own conversion fails too."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from sluice_client.errors import ValueOutOfRange


def rows_of(batch: pa.RecordBatch) -> Iterator[tuple[Any, ...]]:
    """Yields the rows, as tuples in the order of the columns.

    Raises:
        ValueOutOfRange: a value has no Python value.
    """
    if batch.num_columns == 0:
        yield from (() for _ in range(batch.num_rows))
        return
    names = batch.schema.names
    columns = [python_values(batch.column(index), names[index]) for index in range(batch.num_columns)]
    yield from zip(*columns, strict=True)


def python_values(array: pa.Array, name: str) -> list[Any]:
    """Returns the values of one column.

    Text that is not UTF-8 has replacement characters. A struct with two fields of one name is a list of
    pairs.

    Raises:
        ValueOutOfRange: a value, such as a date after the year 9999, has no Python value.
    """
    try:
        return _values(array)
    except (ValueError, OverflowError, KeyError, pa.ArrowException) as error:
        raise ValueOutOfRange(
            f"the column {name!r} ({array.type}) has a value that Python cannot hold: read it with arrow()"
        ) from error


def _values(array: pa.Array) -> list[Any]:
    if pa.types.is_struct(array.type) and _has_duplicates(array.type):
        return _pairs(array)
    try:
        values: list[Any] = array.to_pylist()
    except UnicodeDecodeError:
        raw = pc.cast(array, pa.large_binary()).to_pylist()
        return [None if value is None else value.decode(errors="replace") for value in raw]
    return values


def _has_duplicates(kind: pa.StructType) -> bool:
    names = [kind.field(index).name for index in range(kind.num_fields)]
    return len(set(names)) < len(names)


def _pairs(array: pa.StructArray) -> list[Any]:
    names = [array.type.field(index).name for index in range(array.type.num_fields)]
    rows = zip(*(_values(child) for child in array.flatten()), strict=True)
    return [
        list(zip(names, row, strict=True)) if is_valid else None
        for row, is_valid in zip(rows, array.is_valid().to_pylist(), strict=True)
    ]
