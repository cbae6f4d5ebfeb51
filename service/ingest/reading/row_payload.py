"""One row of Arrow as a record of JSON, as it could be sent again."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from datetime import date, datetime, time

import pyarrow as pa


def row_payload(rows: pa.RecordBatch) -> bytes:
    """The only row, without its nulls.

    >>> row_payload(pa.RecordBatch.from_pylist([{"a": 1, "b": None, "c": b"x"}]))
    b'{"a": 1, "c": "eA=="}'
    """
    named = zip(rows.schema.names, rows.columns, strict=True)
    record = {name: _value(column[0]) for name, column in named if column[0].is_valid}
    return json.dumps(record, ensure_ascii=False).encode()


def _value(scalar: pa.Scalar) -> object:
    try:
        return _json(scalar.as_py())
    except (ValueError, OverflowError, TypeError):
        return _text(scalar)


def _text(scalar: pa.Scalar) -> str:
    """Of what Python has no value for, such as moments beyond the year 9999."""
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
        case datetime() | date() | time():
            return value.isoformat()
        case bool() | int() | str() | None:
            return value
        case Mapping() | list() | tuple():
            return _nested(value)
        case _:
            return str(value)


def _nested(value: Mapping[str, object] | list[object] | tuple[object, ...]) -> object:
    match value:
        case Mapping():
            return {name: _json(each) for name, each in value.items()}
        case list():
            return [_json(each) for each in value]
        case (key, each):
            # Of a map.
            return {"key": _json(key), "value": _json(each)}
        case _:
            return str(value)


_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
