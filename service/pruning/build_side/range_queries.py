"""The queries for the ranges that keys lie in, for key sets that are too large to be cached."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from service.model.filters.key_set import Key, KeyRange, KeyValue

STRIPES = 1024

_NO_GAPS = (1, timedelta(days=1))
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# SQL for a number that has the order of the keys; `_number` computes the same here.
_NUMBERS = {
    "int": "CAST(`k0` AS DOUBLE)",
    "long": "CAST(`k0` AS DOUBLE)",
    "decimal": "CAST(`k0` AS DOUBLE)",
    "date": "unix_date(`k0`)",
    "timestamp": "unix_date(CAST(`k0` AS DATE))",
    "timestamptz": "unix_micros(`k0`)",
}


def bounds_query(filtering_query: str) -> str:
    """Returns the query for the least and the greatest key of a single key column.

    >>> bounds_query("SELECT DISTINCT k AS k0 FROM d")
    'SELECT min(`k0`) AS `low`, max(`k0`) AS `high` FROM (SELECT k AS k0 FROM d) AS `keys`'
    """
    return (
        f"SELECT min(`k0`) AS `low`, max(`k0`) AS `high` FROM ({_with_duplicates(filtering_query)}) AS `keys`"
    )


def stripes_query(filtering_query: str, type_name: str, bounds: Key) -> str | None:
    """Returns the query for the least and the greatest key in each of `STRIPES` equal parts of the bounds.

    These show every gap that is wider than a stripe, and the keys need not be sorted. None for types whose
    values have no distances.
    """
    kind = type_name.partition("(")[0]
    if kind not in _NUMBERS or bounds[0] == bounds[1]:
        return None
    low, high = (_number(bound, kind) for bound in bounds)
    width = (high - low) / STRIPES or 1.0
    stripe = f"floor(({_NUMBERS[kind]} - ({low!r}D)) / {width!r}D)"
    keys = f"FROM ({_with_duplicates(filtering_query)}) AS `keys`"
    return f"SELECT min(`k0`) AS `low`, max(`k0`) AS `high` {keys} GROUP BY {stripe}"


def widest_gaps(stripes: Sequence[Key], at_most: int) -> tuple[KeyRange, ...]:
    """Returns at most so many ranges, cut at the widest gaps between stripes; neighbours have no gap.

    >>> widest_gaps([(9, 12), (1, 4), (90, 95), (5, 6)], 9), widest_gaps([(1, 4), (6, 7), (90, 95)], 2)
    (((1, 6), (9, 12), (90, 95)), ((1, 7), (90, 95)))
    """
    ranges: list[Any] = sorted(stripes)
    gaps = [after[0] - before[1] for before, after in pairwise(ranges)]
    wide = [at for at, gap in enumerate(gaps) if gap not in _NO_GAPS]
    widest = sorted(wide, key=lambda at: gaps[at], reverse=True)[: at_most - 1]
    cuts = [0, *(at + 1 for at in sorted(widest)), len(ranges)]
    return tuple((ranges[first][0], ranges[after - 1][1]) for first, after in pairwise(cuts))


def _with_duplicates(filtering_query: str) -> str:
    """Removes DISTINCT: an aggregate reads each key once anyway."""
    distinct = "SELECT DISTINCT "
    is_distinct = filtering_query.startswith(distinct)
    return f"SELECT {filtering_query.removeprefix(distinct)}" if is_distinct else filtering_query


def _number(value: KeyValue, kind: str) -> float:
    match value:
        case datetime() if kind == "timestamptz":
            return float((value - _EPOCH) // timedelta(microseconds=1))
        case date():
            return float(value.toordinal() - _EPOCH.toordinal())
        case int() | Decimal():
            return float(value)
        case _:
            raise TypeError(kind)
