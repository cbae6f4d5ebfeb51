"""Key columns in Arrow: one Arrow type for each of Iceberg's, so that values come back unchanged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa

from service.model.filters.key_set import KeyValue

_DECIMAL = re.compile(r"decimal\((\d+),\s*(\d+)\)")


class Uncacheable(Exception):
    """These keys cannot be stored; the message says why, in a sentence."""


@dataclass(frozen=True, slots=True)
class KeyType:
    """How a column's values are stored, and the one Python class that all of them have."""

    arrow: pa.DataType
    python: type

    def stored(self, values: Sequence[KeyValue]) -> pa.Array:
        """Returns the values as a column.

        Raises:
            Uncacheable: a value does not have the column's type, or does not fit into it.
        """
        # Arrow would truncate a datetime to a date, and take a time without a zone as UTC.
        if not all(map(self._is_of_this_type, values)):
            raise Uncacheable("The keys are not of their column's type.")
        try:
            return pa.array(values, self.arrow)
        except (pa.ArrowException, ValueError, TypeError, OverflowError) as error:
            raise Uncacheable("The keys do not fit into their column's type.") from error

    def restored(self, column: pa.ChunkedArray) -> list[KeyValue]:
        """Returns the column's values as they were stored; times with a zone are in UTC."""
        if not self._has_zone:
            values: list[KeyValue] = column.to_pylist()
            return values
        # Arrow's own time zones are slower, and of another class.
        moments: list[datetime] = column.cast(pa.timestamp("us")).to_pylist()
        return [moment.replace(tzinfo=UTC) for moment in moments]

    @property
    def _has_zone(self) -> bool:
        return pa.types.is_timestamp(self.arrow) and self.arrow.tz is not None

    def _is_of_this_type(self, value: KeyValue) -> bool:
        if isinstance(value, datetime) and self.python is datetime:
            return (value.tzinfo is not None) is self._has_zone
        return type(value) is self.python


_FIXED = {
    "boolean": KeyType(pa.bool_(), bool),
    "int": KeyType(pa.int32(), int),
    "long": KeyType(pa.int64(), int),
    "string": KeyType(pa.string(), str),
    "date": KeyType(pa.date32(), date),
    "timestamp": KeyType(pa.timestamp("us"), datetime),
    "timestamptz": KeyType(pa.timestamp("us", "UTC"), datetime),
}


def key_type(type_name: str) -> KeyType:
    """Returns the type with this Iceberg name.

    >>> key_type("decimal(7, 2)").arrow
    Decimal128Type(decimal128(7, 2))

    Raises:
        Uncacheable: keys of this type are not stored.
    """
    if known := _FIXED.get(type_name):
        return known
    if found := _DECIMAL.fullmatch(type_name):
        return KeyType(pa.decimal128(int(found[1]), int(found[2])), Decimal)
    raise Uncacheable(f"Keys of the type {type_name} are not cached.")
