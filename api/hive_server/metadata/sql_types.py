"""Spark's types as JDBC numbers and measures them."""

from __future__ import annotations

import re
from dataclasses import dataclass

_NAME = re.compile(r"\s*([a-z_]+)")
_DECIMAL = re.compile(r"\s*decimal\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SqlType:
    """A type: its name in SQL, its number in `java.sql.Types`, and its sizes, where it has some."""

    name: str
    number: int
    size: int | None = None
    digits: int | None = None
    radix: int | None = None


BASIC = (
    SqlType("BOOLEAN", 16, 1),
    SqlType("TINYINT", -6, 3, 0, 10),
    SqlType("SMALLINT", 5, 5, 0, 10),
    SqlType("INT", 4, 10, 0, 10),
    SqlType("BIGINT", -5, 19, 0, 10),
    SqlType("FLOAT", 6, 7, 7, 10),
    SqlType("DOUBLE", 8, 15, 15, 10),
    SqlType("DECIMAL", 3, 38, 18, 10),
    SqlType("STRING", 12),
    SqlType("DATE", 91, 10),
    SqlType("TIMESTAMP", 93, 29, 6),
    SqlType("TIMESTAMP_NTZ", 93, 29, 6),
    SqlType("BINARY", -2),
    SqlType("ARRAY", 2003),
    SqlType("MAP", 2000),
    SqlType("STRUCT", 2002),
    SqlType("VOID", 0),
)
_BY_NAME = {known.name.lower(): known for known in BASIC}
_OF_ICEBERG = {
    "long": "bigint",
    "integer": "int",
    "list": "array",
    "fixed": "binary",
    "uuid": "string",
    "timestamptz": "timestamp",
    "timestamp": "timestamp_ntz",
    "timestamptz_ns": "timestamp",
    "timestamp_ns": "timestamp_ntz",
}
"""Types that Iceberg spells in its own way."""


def sql_type(type_name: str, *, is_iceberg: bool) -> SqlType:
    """Returns the type of a column; one that JDBC has no number for counts as text.

    >>> sql_type("decimal(7, 2)", is_iceberg=True)
    SqlType(name='DECIMAL(7,2)', number=3, size=7, digits=2, radix=10)
    >>> sql_type("timestamptz", is_iceberg=True).name, sql_type("timestamp", is_iceberg=False).name
    ('TIMESTAMP', 'TIMESTAMP')
    >>> sql_type("list<long>", is_iceberg=True).name, sql_type("interval day", is_iceberg=False).number
    ('ARRAY', 12)
    """
    decimal = _DECIMAL.match(type_name)
    if decimal is not None:
        size, digits = int(decimal[1]), int(decimal[2] or 0)
        return SqlType(f"DECIMAL({size},{digits})", _BY_NAME["decimal"].number, size, digits, 10)
    found = _NAME.match(type_name.lower())
    name = "" if found is None else found[1]
    if is_iceberg:
        name = _OF_ICEBERG.get(name, name)
    return _BY_NAME.get(name) or SqlType(type_name.upper(), _BY_NAME["string"].number)
