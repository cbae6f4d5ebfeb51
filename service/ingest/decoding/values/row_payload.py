"""Writes one row of Arrow as a JSON record that could be sent again."""

from __future__ import annotations

import base64
import json
import math
from datetime import time
from decimal import Decimal

import pyarrow as pa
from pyarrow import types

from service.model.calendar import date_text, moment_text


def row_payload(rows: pa.RecordBatch) -> bytes:
    """Returns the only row as JSON, without its nulls.

    >>> row_payload(pa.RecordBatch.from_pylist([{"a": 1, "b": None, "c": b"x"}]))
    b'{"a": 1, "c": "eA=="}'
    """
    # A number in a text is read again as one, and always with all of its digits.
    return json.dumps(row_record(rows, 0), ensure_ascii=False, default=str).encode()


def row_record(rows: pa.RecordBatch, row: int) -> dict[str, object]:
    """Returns a row as values of JSON by name, without its nulls; decimals are of the type Decimal.

    >>> row_record(pa.RecordBatch.from_pylist([{"a": Decimal("1.50"), "b": None, "c": {"d": b"x"}}]), 0)
    {'a': Decimal('1.50'), 'c': {'d': 'eA=='}}
    """
    named = zip(rows.schema.names, rows.columns, strict=True)
    return {name: _value(column[row]) for name, column in named if column[row].is_valid}


def _value(scalar: pa.Scalar) -> object:
    """Converts nested values one by one, so that only those that Python does not support become text."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if isinstance(scalar, pa.ExtensionScalar | pa.DictionaryScalar | pa.RunEndEncodedScalar):
        return _value(scalar.value)
    if types.is_struct(kind):
        return {kind.field(index).name: _value(scalar[index]) for index in range(kind.num_fields)}
    if types.is_map(kind):
        return [{"key": _value(value[0]), "value": _value(value[1])} for value in scalar.values]
    if isinstance(scalar, pa.ListScalar):
        return [_value(value) for value in scalar.values]
    if types.is_date(kind) or types.is_timestamp(kind) or _is_outside_of_a_day(scalar):
        return _day_or_moment(scalar)
    try:
        return _json(scalar.as_py())
    except (ValueError, OverflowError, TypeError):
        return _text(scalar)


def _is_outside_of_a_day(scalar: pa.Scalar) -> bool:
    return types.is_time(scalar.type) and not 0 <= scalar.value < _DAY[scalar.type.unit]


def _day_or_moment(scalar: pa.Scalar) -> str:
    """Returns the text that the JSON reader accepts; with more digits where the value has more."""
    kind = scalar.type
    if types.is_time(kind):
        # Python would give another time.
        return f"{scalar.value} {kind.unit}"
    if types.is_date(kind):
        return date_text(scalar.value // (1 if types.is_date32(kind) else _DAY["ms"]))
    text = moment_text(scalar.value, kind.unit, is_utc=kind.tz is not None)
    return text.replace("T", " ") if kind.unit == "ns" and scalar.value % 1_000 else text


def _text(scalar: pa.Scalar) -> str:
    """Returns text for values that Python does not support, such as times with nanoseconds."""
    try:
        return str(scalar.cast(pa.string()).as_py())
    except pa.ArrowException:
        return f"a value of {scalar.type}"


def _json(value: object) -> object:
    match value:
        case bytes():
            return base64.b64encode(value).decode()
        case float():
            return value if math.isfinite(value) else _NOT_FINITE[str(value)]
        case time():
            return value.isoformat()
        case bool() | int() | str() | Decimal() | None:
            return value
        case _:
            return str(value)


_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
