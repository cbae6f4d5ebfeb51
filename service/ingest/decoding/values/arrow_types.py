"""The Arrow types of a schema, as the writer of files uses them.

Text and bytes have 64-bit offsets; otherwise each column would be cast before it is written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa

from service.ingest.decoding.values.sent_types import MIDNIGHTS
from service.model.tables.schemas import VARIANT, Field, FieldType, ListOf, MapOf, Primitive, Struct

_SIMPLE: Mapping[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.large_string(),
    "date": pa.date32(),
    MIDNIGHTS: pa.timestamp("us"),
    "time": pa.time64("us"),
    "timestamp": pa.timestamp("us"),
    "timestamptz": pa.timestamp("us", "UTC"),
    "timestamp_ns": pa.timestamp("ns"),
    "timestamptz_ns": pa.timestamp("ns", "UTC"),
    "uuid": pa.binary(16),
    "binary": pa.large_binary(),
    "unknown": pa.null(),
    # As files have it: see `stored_variants` among the adapters.
    VARIANT: pa.struct([("metadata", pa.large_binary()), ("value", pa.large_binary())]),
}


def arrow_schema(fields: tuple[Field, ...]) -> pa.Schema:
    """Returns the fields by name, without ids."""
    return pa.schema([arrow_field(field) for field in fields])


def arrow_field(field: Field) -> pa.Field:
    """Returns one field, with all nested fields.

    >>> str(arrow_field(Field(1, "price", Primitive("decimal(7, 2)"))).type)
    'decimal128(7, 2)'
    """
    return pa.field(field.name, _arrow_type(field.type), nullable=not field.is_required)


def _arrow_type(type_: FieldType) -> pa.DataType:
    match type_:
        case Primitive(name):
            return _primitive(name)
        case Struct(fields):
            return pa.struct([arrow_field(field) for field in fields])
        case ListOf(element):
            return pa.list_(arrow_field(element))
        case MapOf(key, value):
            return pa.map_(arrow_field(key), arrow_field(value))


def _primitive(name: str) -> pa.DataType:
    if match := re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", name):
        return pa.decimal128(int(match[1]), int(match[2]))
    if match := re.fullmatch(r"fixed\[(\d+)\]", name):
        return pa.binary(int(match[1]))
    return _SIMPLE[name]
