"""One row of Arrow as a record of JSON, as it could be sent again."""

from __future__ import annotations

import base64
import json
import math
from datetime import date, datetime, time

import pyarrow as pa
from pyarrow import types


def row_payload(rows: pa.RecordBatch) -> bytes:
    """The only row, without its nulls.

    >>> row_payload(pa.RecordBatch.from_pylist([{"a": 1, "b": None, "c": b"x"}]))
    b'{"a": 1, "c": "eA=="}'
    """
    named = zip(rows.schema.names, rows.columns, strict=True)
    record = {name: _value(column[0]) for name, column in named if column[0].is_valid}
    return json.dumps(record, ensure_ascii=False).encode()


def _value(scalar: pa.Scalar) -> object:
    """One value; each by itself that lies in it, so that what Python has no value for is only itself text."""
    kind = scalar.type
    if not scalar.is_valid:
        return None
    if isinstance(scalar, pa.ExtensionScalar | pa.DictionaryScalar | pa.RunEndEncodedScalar):
        return _value(scalar.value)
    if types.is_struct(kind):
        return {kind.field(index).name: _value(scalar[index]) for index in range(kind.num_fields)}
    if types.is_map(kind):
        return [{"key": _value(each[0]), "value": _value(each[1])} for each in scalar.values]
    if isinstance(scalar, pa.ListScalar):
        return [_value(each) for each in scalar.values]
    if types.is_time(kind) and not 0 <= scalar.value < _DAY[kind.unit]:
        # Python would tell another time.
        return f"{scalar.value} {kind.unit}"
    try:
        return _json(scalar.as_py())
    except (ValueError, OverflowError, TypeError):
        return _text(scalar)


def _text(scalar: pa.Scalar) -> str:
    """Of what Python has no value for, such as moments with nanoseconds, or beyond the year 9999."""
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
        case _:
            return str(value)


_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_NOT_FINITE = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
