"""Columns as texts, for the types that the protocol sends as text."""

from __future__ import annotations

import decimal

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from api.http.rendering.iso_texts import date_texts, timestamp_texts
from api.http.rendering.json_values import json_values
from service.model.calendar import DAY_SECONDS, FIRST_DAY, LAST_DAY, PER_SECOND

_ZEROS = r"\.0+$|(\.\d*[1-9])0+$"
_MAX_PLAIN_SCALE = 6
"""Up to this scale, Arrow writes a decimal without an exponent."""


def text_column(array: pa.Array) -> pa.Array:
    """Returns a column as texts or bytes; NULL stays NULL.

    Timestamps have the zone of their column, which is the session's. Nested values are JSON, and intervals
    ISO 8601, as in answers over HTTP.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        return text_column(array.dictionary_decode())
    if pa.types.is_null(kind):
        return array.cast(pa.string())
    if pa.types.is_timestamp(kind):
        return _timestamps(array)
    if pa.types.is_date(kind):
        return _dates(array)
    if pa.types.is_decimal(kind):
        return _decimals(array)
    if pa.types.is_nested(kind):
        return _nested(array)
    if is_bytes(kind):
        return array
    return pa.array(json_values(array), pa.string())


def is_bytes(kind: pa.DataType) -> bool:
    """Whether values are texts or bytes as they lie."""
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(test(kind) for test in (*tests, is_binary))


def is_binary(kind: pa.DataType) -> bool:
    """Whether values are bytes and no text."""
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in tests)


def _timestamps(array: pa.Array) -> pa.Array:
    unit, zone = array.type.unit, array.type.tz
    ticks = np.asarray(pc.fill_null(array.view(pa.int64()), 0))
    per_day = DAY_SECONDS * PER_SECOND[unit]
    # One day less, since a time zone may move the timestamp into the next year.
    if ticks.size and not (FIRST_DAY + 1) * per_day <= ticks.min() <= ticks.max() < LAST_DAY * per_day:
        texts = pa.array(timestamp_texts(array), pa.string())
        return pc.replace_substring_regex(texts, pattern=r"(\d)T(\d)", replacement=r"\1 \2")
    local = array if zone is None else pc.local_timestamp(array)
    if not (ticks % PER_SECOND[unit]).any():
        return local.cast(pa.timestamp("s")).cast(pa.string())
    return pc.replace_substring_regex(local.cast(pa.string()), pattern=_ZEROS, replacement=r"\1")


def _dates(array: pa.Array) -> pa.Array:
    days = np.asarray(pc.fill_null(array.cast(pa.date32()).view(pa.int32()), 0))
    if days.size and not FIRST_DAY <= days.min() <= days.max() <= LAST_DAY:
        return pa.array(date_texts(array), pa.string())
    return array.cast(pa.string())


def _decimals(array: pa.Array) -> pa.Array:
    texts = array.cast(pa.string())
    if array.type.scale <= _MAX_PLAIN_SCALE:
        return texts
    has_exponent = pc.match_substring(texts, "E")
    if not pc.any(has_exponent).as_py():
        return texts
    # Most of these are zeros, so that there are few different ones.
    few = pc.filter(texts, has_exponent).dictionary_encode()
    plain = pa.array([format(decimal.Decimal(text), "f") for text in few.dictionary.to_pylist()], pa.string())
    return pc.replace_with_mask(texts, has_exponent, plain.take(few.indices))


def _nested(array: pa.Array) -> pa.Array:
    texts = [None if value is None else orjson.dumps(value).decode() for value in json_values(array)]
    return pa.array(texts, pa.string())
