"""Writes conditions that hold for rows with given keys, so that a scan selects few files."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

LISTED_AT_MOST = 200
"""Iceberg compares the bounds of files with lists up to this length."""
RANGES = 100
LONGEST_TEXT_BYTES = 1_000
"""Lists of longer texts would be statements of many megabytes."""


def key_predicate(column: str, keys: pa.Array) -> str | None:
    """Returns a condition that every row with one of these keys in the column meets; None: there is none.

    `column` is quoted. Many keys become ranges, each of about as many keys.

    >>> key_predicate("`id`", pa.array([3, 1, None, 3]))
    '(`id` IN (1, 3) OR `id` IS NULL)'
    >>> key_predicate("`name`", pa.array(["a'b"]))
    "(`name` IN (CAST(X'612762' AS STRING)))"
    >>> key_predicate("`id`", pa.array(range(1_000)))[:47]
    '(`id` BETWEEN 0 AND 9 OR `id` BETWEEN 10 AND 19'
    >>> key_predicate("`day`", pa.array([0, 5_000_000], pa.date32()))
    '(`day` IN (DATE_FROM_UNIX_DATE(0), DATE_FROM_UNIX_DATE(5000000)))'
    >>> key_predicate("`at`", pa.array([b"a"])) is None
    True
    >>> key_predicate("`name`", pa.array(["a" * 1_001])) is None
    True
    """
    literal = _literals(keys.type)
    if literal is None or _has_long_texts(keys):
        return None
    # Python has no dates after the year 9999, so these are compared and written as their numbers of days.
    numbered = keys.cast(pa.int32()) if types.is_date32(keys.type) else keys
    values = pc.unique(numbered.drop_null())
    values = values.take(pc.sort_indices(values))
    found = ["FALSE"]
    if 0 < len(values) <= LISTED_AT_MOST:
        listed = [literal(value) for value in values.to_pylist()]
        found = [f"{column} IN ({', '.join(listed)})"]
    elif len(values):
        length = -(-len(values) // RANGES)
        starts = range(0, len(values), length)
        ends = (min(start + length, len(values)) - 1 for start in starts)
        bounds = (
            (literal(values[start].as_py()), literal(values[end].as_py()))
            for start, end in zip(starts, ends, strict=True)
        )
        found = [f"{column} BETWEEN {low} AND {high}" for low, high in bounds]
    if keys.null_count:
        found.append(f"{column} IS NULL")
    return f"({' OR '.join(found)})"


def _literals(kind: pa.DataType) -> Callable[..., str] | None:
    if types.is_integer(kind):
        return str
    if types.is_string(kind) or types.is_large_string(kind):
        return _text
    if types.is_date32(kind):
        return _date
    if types.is_decimal(kind):
        return lambda value: _decimal(value, kind)
    return None


def _text(value: str) -> str:
    # Hexadecimal digits need no escapes, whatever the session's settings say about them.
    return f"CAST(X'{value.encode().hex()}' AS STRING)"


def _date(value: int) -> str:
    return f"DATE_FROM_UNIX_DATE({value})"


def _has_long_texts(keys: pa.Array) -> bool:
    if not types.is_string(keys.type) and not types.is_large_string(keys.type):
        return False
    return (pc.max(pc.binary_length(keys)).as_py() or 0) > LONGEST_TEXT_BYTES


def _decimal(value: Decimal, kind: pa.DataType) -> str:
    return f"CAST('{value:f}' AS DECIMAL({kind.precision}, {kind.scale}))"
