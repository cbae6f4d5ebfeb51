"""The protocol's type of each column."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import pyarrow as pa


class TypeId(IntEnum):
    """Types of columns, as metadata names them."""

    BOOLEAN = 0
    TINYINT = 1
    SMALLINT = 2
    INT = 3
    BIGINT = 4
    FLOAT = 5
    DOUBLE = 6
    STRING = 7
    TIMESTAMP = 8
    BINARY = 9
    ARRAY = 10
    MAP = 11
    STRUCT = 12
    DECIMAL = 15
    NULL = 16
    DATE = 17


_TESTS: tuple[tuple[Callable[[pa.DataType], bool], TypeId], ...] = (
    (pa.types.is_boolean, TypeId.BOOLEAN),
    (pa.types.is_int8, TypeId.TINYINT),
    (pa.types.is_int16, TypeId.SMALLINT),
    (pa.types.is_int32, TypeId.INT),
    (pa.types.is_int64, TypeId.BIGINT),
    (pa.types.is_float32, TypeId.FLOAT),
    (pa.types.is_float64, TypeId.DOUBLE),
    (pa.types.is_timestamp, TypeId.TIMESTAMP),
    (pa.types.is_date, TypeId.DATE),
    (pa.types.is_decimal, TypeId.DECIMAL),
    (pa.types.is_binary, TypeId.BINARY),
    (pa.types.is_large_binary, TypeId.BINARY),
    (pa.types.is_fixed_size_binary, TypeId.BINARY),
    (pa.types.is_map, TypeId.MAP),
    (pa.types.is_struct, TypeId.STRUCT),
    (pa.types.is_list, TypeId.ARRAY),
    (pa.types.is_large_list, TypeId.ARRAY),
    (pa.types.is_fixed_size_list, TypeId.ARRAY),
    (pa.types.is_null, TypeId.NULL),
)


def type_id(kind: pa.DataType) -> TypeId:
    """Returns the type of a column. Times and intervals, which the protocol does not have, are texts.

    >>> type_id(pa.decimal128(7, 2)).name, type_id(pa.duration("us")).name
    ('DECIMAL', 'STRING')
    """
    return next((found for test, found in _TESTS if test(kind)), TypeId.STRING)


def column_descriptions(schema: pa.Schema) -> list[dict[str, Any]]:
    """Returns a result's columns for its metadata. Positions begin at 1."""
    return [
        {
            "columnName": field.name,
            "typeDesc": {"types": [{"primitiveEntry": _entry(field.type)}]},
            "position": position,
        }
        for position, field in enumerate(schema, start=1)
    ]


def _entry(kind: pa.DataType) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": type_id(kind)}
    if pa.types.is_decimal(kind):
        # Without them, JDBC shows no digits after the point.
        qualifiers = {"precision": {"i32Value": kind.precision}, "scale": {"i32Value": kind.scale}}
        entry["typeQualifiers"] = {"qualifiers": qualifiers}
    return entry
