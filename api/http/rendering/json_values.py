"""Converts an Arrow array to a list of values that JSON can hold.

Integers are numbers. DECIMAL is a string. FLOAT and DOUBLE are numbers, with "NaN", "Infinity" and
"-Infinity" as strings. Dates and times are ISO 8601, and intervals are ISO 8601 durations. BINARY is base64.
Arrays are arrays. Structs, and maps with string keys, are objects. Other maps are arrays of {"key", "value"}.
A struct with two fields of one name is an array of {"name", "value"}, since an object would lose a value.
"""

from __future__ import annotations

import base64
import decimal
import itertools
import math
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from api.http.rendering.iso_durations import duration_text, interval_text
from api.http.rendering.iso_texts import date_texts, timestamp_texts


def json_values(array: pa.Array) -> list[Any]:
    """Returns the array's values; NULL is None."""
    kind = array.type
    if pa.types.is_nested(kind):
        return _nested(array)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind):
        return _plain(array)
    if pa.types.is_floating(kind):
        return _floats(array)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _strings(array)
    if pa.types.is_decimal(kind):
        return _decimals(array)
    if pa.types.is_dictionary(kind):
        return json_values(array.dictionary_decode())
    return _other(array)


def _other(array: pa.Array) -> list[Any]:
    kind = array.type
    if pa.types.is_timestamp(kind):
        return timestamp_texts(array)
    if pa.types.is_date(kind):
        return date_texts(array)
    if pa.types.is_time(kind):
        # As Spark writes it: without zeros at the end of the fraction.
        texts = pc.cast(array, pa.string())
        return _plain(pc.replace_substring_regex(texts, pattern=r"\.0+$|(\.\d*[1-9])0+$", replacement=r"\1"))
    if pa.types.is_duration(kind):
        ticks = pc.cast(array, pa.int64()).to_pylist()
        return [None if tick is None else duration_text(tick, kind.unit) for tick in ticks]
    if pa.types.is_interval(kind):
        return [None if value is None else interval_text(*value) for value in array.to_pylist()]
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return [None if value is None else base64.b64encode(value).decode() for value in array.to_pylist()]
    return [None if value is None else str(value) for value in array.to_pylist()]


def _plain(array: pa.Array) -> list[Any]:
    values: list[Any] = array.to_pylist()
    return values


def _strings(array: pa.Array) -> list[Any]:
    try:
        return _plain(array)
    except UnicodeDecodeError:
        # Spark does not promise that a STRING is UTF-8.
        raw = pc.cast(array, pa.large_binary()).to_pylist()
        return [None if value is None else value.decode(errors="replace") for value in raw]


def _floats(array: pa.Array) -> list[Any]:
    if array.type != pa.float64():
        # The cast goes through text, so that the float 0.1 stays 0.1 and does not become 0.10000000149011612.
        array = pc.cast(pc.cast(array, pa.string()), pa.float64())
    values = _plain(array)
    if pc.all(pc.is_finite(array), min_count=0).as_py() in (True, None):
        return values
    return [value if value is None or math.isfinite(value) else _not_finite(value) for value in values]


def _not_finite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _decimals(array: pa.Array) -> list[Any]:
    texts = _plain(pc.cast(array, pa.string()))
    # Arrow writes very small numbers with an exponent: 1E-8.
    return [format(decimal.Decimal(text), "f") if text and "E" in text else text for text in texts]


def _nested(array: pa.Array) -> list[Any]:
    kind = array.type
    if pa.types.is_struct(kind):
        return _structs(array)
    if pa.types.is_map(kind):
        return _maps(array)
    if pa.types.is_fixed_size_list(kind):
        return _nested(pc.cast(array, pa.large_list(kind.value_field)))
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return _cut(array, lambda start, end: json_values(array.values.slice(start, end - start)))
    return [None if value is None else str(value) for value in array.to_pylist()]


def _structs(array: pa.Array) -> list[Any]:
    names = [array.type.field(index).name for index in range(array.type.num_fields)]
    if not names:
        return _with_nulls(array, [{}] * len(array))
    rows = zip(*(json_values(child) for child in array.flatten()), strict=True)
    if len(set(names)) == len(names):
        return _with_nulls(array, [dict(zip(names, row, strict=True)) for row in rows])
    return _with_nulls(array, [named_values(names, row) for row in rows])


def named_values(names: list[str], values: tuple[Any, ...]) -> list[dict[str, Any]]:
    """Returns a row whose names an object could not hold, as two of them are equal."""
    return [{"name": name, "value": value} for name, value in zip(names, values, strict=True)]


def _maps(array: pa.Array) -> list[Any]:
    is_object = pa.types.is_string(array.type.key_type) or pa.types.is_large_string(array.type.key_type)

    def entries(start: int, end: int) -> list[Any]:
        keys = json_values(array.keys.slice(start, end - start))
        return list(zip(keys, json_values(array.items.slice(start, end - start)), strict=True))

    to_json = _object if is_object else _pairs
    return [None if row is None else to_json(row) for row in _cut(array, entries)]


def _object(entries: list[tuple[Any, Any]]) -> dict[str, Any] | list[dict[str, Any]]:
    found = dict(entries)
    # Keys that are not UTF-8 may become the same text.
    return found if len(found) == len(entries) else _pairs(entries)


def _pairs(entries: list[tuple[Any, Any]]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value} for key, value in entries]


def _cut(array: pa.Array, values_between: Any) -> list[Any]:
    # A chunk is often a slice of a larger result. Only its own part of the children is rendered.
    offsets = array.offsets.to_pylist()
    values = values_between(offsets[0], offsets[-1])
    rows = [values[start - offsets[0] : end - offsets[0]] for start, end in itertools.pairwise(offsets)]
    return _with_nulls(array, rows)


def _with_nulls(array: pa.Array, rows: list[Any]) -> list[Any]:
    if array.null_count == 0:
        return rows
    return [
        row if is_valid else None for row, is_valid in zip(rows, array.is_valid().to_pylist(), strict=True)
    ]
