"""The Arrow types of columns whose types are known by their spelling, in SQL or as Iceberg spells them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa

from service.model.query.results import Column

_MICROSECONDS, _UTC = "us", "UTC"
MAX_LEVELS = 60
"""Types with more levels are text in Arrow: its readers refuse them."""


class TypeNotRead(ValueError):
    """The spelling has names that could be parts of the type, or the type is not known."""


class _Text(Exception):
    """A part of the type is nothing that Arrow carries: then the whole column is text."""


_SQL: Mapping[str, pa.DataType | None] = MappingProxyType(
    {
        "BOOLEAN": pa.bool_(),
        "TINYINT": pa.int8(),
        "SMALLINT": pa.int16(),
        "INT": pa.int32(),
        "BIGINT": pa.int64(),
        "FLOAT": pa.float32(),
        "DOUBLE": pa.float64(),
        "STRING": pa.string(),
        "BINARY": pa.binary(),
        "DATE": pa.date32(),
        "TIMESTAMP": pa.timestamp(_MICROSECONDS, _UTC),
        "TIMESTAMP_NTZ": pa.timestamp(_MICROSECONDS),
        "VOID": pa.null(),
        "VARIANT": None,
        "INTERVAL": None,
    }
)
"""None: a type that Arrow does not carry, so that it is text."""
_ICEBERG: Mapping[str, pa.DataType | None] = MappingProxyType(
    {
        "boolean": pa.bool_(),
        "int": pa.int32(),
        "long": pa.int64(),
        "float": pa.float32(),
        "double": pa.float64(),
        "string": pa.string(),
        "uuid": pa.string(),
        "binary": pa.binary(),
        "date": pa.date32(),
        "timestamp": pa.timestamp(_MICROSECONDS),
        "timestamptz": pa.timestamp(_MICROSECONDS, _UTC),
        "unknown": pa.null(),
        "variant": None,
    }
)
"""As Spark reads them."""
_ALL = MappingProxyType({**_SQL, **_ICEBERG})
_DECIMAL = re.compile(r"DECIMAL\((\d{1,2}), ?(\d{1,2})\)", re.IGNORECASE)
_YEAR_MONTH = re.compile(r"INTERVAL (?:YEAR|MONTH)(?: TO \w+)?")
_PATTERNS: Mapping[re.Pattern[str], pa.DataType] = MappingProxyType(
    {
        re.compile(r"STRING COLLATE \w+|(?:VAR)?CHAR\(\d+\)", re.IGNORECASE): pa.string(),
        re.compile(r"TIME(?:\(\d\))?"): pa.time64("ns"),
        re.compile(r"INTERVAL (?:DAY|HOUR|MINUTE|SECOND)(?: TO \w+)?"): pa.duration(_MICROSECONDS),
        re.compile(r"fixed\[\d+\]"): pa.binary(),
    }
)
_NESTED = re.compile(r"(ARRAY|LIST|MAP|STRUCT)<(.*)>", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r"(?:\d+: )?(?P<name>[^<>(),:]+): (?:required |optional )?(?P<type>.+)", re.DOTALL)


def arrow_schema(columns: Sequence[Column]) -> pa.Schema:
    """Returns the schema of a result's rows.

    Raises:
        TypeNotRead: a column's type cannot be read.

    >>> arrow_schema([Column("n", "INT", is_nullable=False), Column("m", "MAP<STRING, INTERVAL>", True)])
    n: int32 not null
    m: string
    """
    return pa.schema(
        [pa.field(column.name, arrow_type(column.type_name), column.is_nullable) for column in columns]
    )


def arrow_type(spelled: str) -> pa.DataType:
    """Returns the type of a column.

    Raises:
        TypeNotRead: it cannot be read.

    >>> str(arrow_type("STRUCT<a: DECIMAL(7,2), b: ARRAY<STRING>>"))
    'struct<a: decimal128(7, 2), b: list<element: string>>'
    >>> str(arrow_type("struct<1: a: required long, 2: b: optional timestamptz>"))
    'struct<a: int64, b: timestamp[us, tz=UTC]>'
    """
    try:
        return _read(spelled, MAX_LEVELS)
    except _Text:
        return pa.string()


def _read(spelled: str, levels: int) -> pa.DataType:
    if levels <= 0:
        raise _Text
    nested = _NESTED.fullmatch(spelled)
    if nested is not None:
        return _nested(nested[1].upper(), nested[2], levels)
    return _carried(_ALL[spelled]) if spelled in _ALL else _with_arguments(spelled)


def _with_arguments(spelled: str) -> pa.DataType:
    """Returns the type of a spelling with more than its name."""
    if decimal := _DECIMAL.fullmatch(spelled):
        return pa.decimal128(int(decimal[1]), int(decimal[2]))
    if _YEAR_MONTH.fullmatch(spelled):
        raise _Text
    for pattern, known in _PATTERNS.items():
        if pattern.fullmatch(spelled):
            return known
    raise TypeNotRead(spelled[:200])


def _carried(known: pa.DataType | None) -> pa.DataType:
    if known is None:
        raise _Text
    return known


def _nested(kind: str, inner: str, levels: int) -> pa.DataType:
    parts = list(_split(inner))
    match kind:
        case "STRUCT":
            return pa.struct([_field(part, levels - 1) for part in parts])
        case "MAP" if len(parts) == 2:
            key, value = (_read(part.strip(), levels - 2) for part in parts)
            if pa.types.is_null(key):
                # Spark has such a type, and pyarrow cannot name it.
                raise TypeNotRead(inner[:200])
            return pa.map_(key, value)
        case "ARRAY" | "LIST" if len(parts) == 1:
            return pa.list_(pa.field("element", _read(parts[0], levels - 1)))
        case _:
            raise TypeNotRead(inner[:200])


def _field(part: str, levels: int) -> pa.Field:
    # Spark does not quote names, so one with such characters could be read as another type.
    found = _FIELD.fullmatch(part.strip())
    if found is None:
        raise TypeNotRead(part[:200])
    return pa.field(found["name"], _read(found["type"], levels))


def _split(inner: str) -> Iterator[str]:
    """Yields the parts between the commas that are in no brackets."""
    depth, start = 0, 0
    for position, character in enumerate(inner):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            yield inner[start:position]
            start = position + 1
    if inner.strip():
        yield inner[start:]
