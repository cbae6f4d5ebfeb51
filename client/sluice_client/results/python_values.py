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
    if not _has_fields_of_one_name(array.type):
        try:
            return _plain(array)
        except UnicodeDecodeError:
            # Spark does not promise that a STRING is UTF-8.
            pass
    return _one_by_one(array)


def _plain(array: pa.Array) -> list[Any]:
    values: list[Any] = array.to_pylist()
    return values


def _one_by_one(array: pa.Array) -> list[Any]:
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _values(array.dictionary_decode())
    if pa.types.is_struct(kind):
        return _structs(array)
    if pa.types.is_map(kind):
        return [_entries(scalar.values) if scalar.is_valid else None for scalar in array]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return [_values(scalar.values) if scalar.is_valid else None for scalar in array]
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        raw = _plain(pc.cast(array, pa.large_binary()))
        return [None if value is None else value.decode(errors="replace") for value in raw]
    return _plain(array)


def _structs(array: pa.StructArray) -> list[Any]:
    names = _names(array.type)
    make: Any = dict if len(set(names)) == len(names) else list
    rows = zip(*(_values(child) for child in array.flatten()), strict=True)
    return [
        make(zip(names, row, strict=True)) if is_valid else None
        for row, is_valid in zip(rows, _plain(array.is_valid()), strict=True)
    ]


def _entries(entries: pa.StructArray) -> list[tuple[Any, Any]]:
    return list(zip(_values(entries.field(0)), _values(entries.field(1)), strict=True))


def _has_fields_of_one_name(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind) and len(set(_names(kind))) < kind.num_fields:
        return True
    if not pa.types.is_nested(kind):
        return False
    return any(_has_fields_of_one_name(kind.field(index).type) for index in range(kind.num_fields))


def _names(kind: pa.StructType) -> list[str]:
    return [kind.field(index).name for index in range(kind.num_fields)]
