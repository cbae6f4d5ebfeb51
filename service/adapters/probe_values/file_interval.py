"""The interval of a data file's values in one column, according to its table's metadata."""

from __future__ import annotations

import struct
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from typing import Any, TypeAlias

from pyiceberg.conversions import from_bytes
from pyiceberg.manifest import DataFile
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    IcebergType,
    IntegerType,
    LongType,
    NestedField,
    PrimitiveType,
    StringType,
    TimestampType,
    TimestamptzType,
)

from service.model.filters.key_set import KeyValue

Interval: TypeAlias = tuple[KeyValue, KeyValue]
"""Inclusive bounds of the values: the least and the greatest value, or looser ones."""

# Without floating point: readers differ in -0.0 and NaN.
_TYPES = (
    BooleanType,
    DateType,
    DecimalType,
    IntegerType,
    LongType,
    StringType,
    TimestampType,
    TimestamptzType,
)
# Errors for bounds written under another type, for invalid text, and for days after the year 9999.
NOT_UNDERSTOOD = (struct.error, ValueError, OverflowError, TypeError, ArithmeticError, LookupError)


def has_intervals(field: NestedField) -> bool:
    """Whether files can have intervals in a column of this type."""
    return isinstance(field.field_type, _TYPES)


class NoInterval(Enum):
    """Why there is no interval."""

    NO_VALUE = "the file holds nothing but NULL"
    UNKNOWN = "the file may hold anything"


def file_interval(
    file: DataFile, field: NestedField, partition_position: int | None
) -> Interval | NoInterval:
    """Returns the interval of a top-level column.

    `partition_position` is the position of the column's own value (`identity`) in the file's partition.
    Readers give that value to every row, whatever else the file says.
    """
    if file.record_count == 0:
        return NoInterval.NO_VALUE
    if partition_position is None:
        return _of_statistics(file, field)
    try:
        value = file.partition[partition_position]
        return NoInterval.NO_VALUE if value is None else (value_of(value, field.field_type),) * 2
    except NOT_UNDERSTOOD:
        return NoInterval.UNKNOWN


def interval_of_bounds(lower: bytes | None, upper: bytes | None, type_: IcebergType) -> Interval | NoInterval:
    """Returns the interval between two bounds in Iceberg's single-value serialization."""
    if lower is None or upper is None or not isinstance(type_, _TYPES):
        return NoInterval.UNKNOWN
    try:
        interval: Any = (_read(lower, type_), _read(upper, type_))
        return interval if interval[0] <= interval[1] else NoInterval.UNKNOWN
    except NOT_UNDERSTOOD:
        return NoInterval.UNKNOWN


def _of_statistics(file: DataFile, field: NestedField) -> Interval | NoInterval:
    def reported(by_field: dict[int, Any] | None) -> Any:
        return (by_field or {}).get(field.field_id)

    value_count = reported(file.value_counts)
    if value_count is not None and value_count == reported(file.null_value_counts):
        return NoInterval.NO_VALUE
    return interval_of_bounds(reported(file.lower_bounds), reported(file.upper_bounds), field.field_type)


def _read(bound: bytes, type_: PrimitiveType) -> KeyValue:
    return value_of(from_bytes(type_, bound), type_)


def value_of(raw: Any, type_: IcebergType) -> KeyValue:
    """Converts a value from Iceberg's in-memory form; it must have one of the types above.

    Raises:
        TypeError: it has another type.
    """
    value: KeyValue
    match type_:
        case DateType():
            value = date(1970, 1, 1) + timedelta(days=raw)
        case TimestampType():
            value = datetime(1970, 1, 1) + timedelta(microseconds=raw)
        case TimestamptzType():
            value = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=raw)
        case BooleanType() | DecimalType() | IntegerType() | LongType() | StringType():
            value = raw
        case _:
            raise TypeError(type_)
    return value
