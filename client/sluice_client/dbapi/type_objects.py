"""Type objects and constructors of PEP 249."""

from __future__ import annotations

import re
import time as clock
from datetime import date, datetime, time
from typing import TypeAlias

Date: TypeAlias = date
Time: TypeAlias = time
Timestamp: TypeAlias = datetime
Binary: TypeAlias = bytes


class TypeObject:
    """Equals each SQL type of its kind: `description[0][1] == NUMBER`."""

    def __init__(self, name: str, *types: str) -> None:
        self._name = name
        self._types = frozenset(types)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return base_type(other) in self._types
        return self is other

    def __hash__(self) -> int:
        return hash(self._name)

    def __repr__(self) -> str:
        return self._name


STRING = TypeObject("STRING", "STRING", "VARCHAR", "CHAR")
BINARY = TypeObject("BINARY", "BINARY")
NUMBER = TypeObject(
    "NUMBER", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL"
)
DATETIME = TypeObject("DATETIME", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ", "INTERVAL")
ROWID = TypeObject("ROWID")


def DateFromTicks(ticks: float) -> date:  # noqa: N802 - PEP 249 names it
    """Returns the local day of a time in seconds since the epoch."""
    return Date(*clock.localtime(ticks)[:3])


def TimeFromTicks(ticks: float) -> time:  # noqa: N802 - PEP 249 names it
    """Returns the local time of day of a time in seconds since the epoch."""
    return Time(*clock.localtime(ticks)[3:6])


def TimestampFromTicks(ticks: float) -> datetime:  # noqa: N802 - PEP 249 names it
    """Returns the local time of a time in seconds since the epoch."""
    return Timestamp(*clock.localtime(ticks)[:6])


def base_type(type_name: str) -> str:
    """Returns a SQL type without what is in its brackets.

    >>> base_type("decimal(7,2)"), base_type("INTERVAL DAY TO SECOND"), base_type("ARRAY<INT>")
    ('DECIMAL', 'INTERVAL', 'ARRAY')
    """
    return re.split(r"[ (<]", type_name.strip().upper(), maxsplit=1)[0]


def decimal_shape(type_name: str) -> tuple[int | None, int | None]:
    """Returns the precision and scale of a decimal; None for other types.

    >>> decimal_shape("DECIMAL(7,2)"), decimal_shape("INT")
    ((7, 2), (None, None))
    """
    found = re.fullmatch(r"DECIMAL\((\d+),\s*(\d+)\)", type_name.strip().upper())
    return (int(found[1]), int(found[2])) if found else (None, None)
