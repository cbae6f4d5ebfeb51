"""Ranges that begin where the transform `truncate` of whole numbers overflows."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp

from service.model.filters.key_set import KeyRange
from service.model.tables.tables import TableFacts

_LEAST = -(2**31)
_LEAST_LONG = -(2**63)
_TRUNCATE = re.compile(r"truncate\[(\d+)\]")


def reaches_lowest_bucket(condition: exp.Expr, facts: TableFacts) -> bool:
    """Whether a range begins among the least numbers of a column that the table is truncated by.

    Iceberg's transform of such a number is below the range of the type, and wraps around to one of the
    greatest numbers. With `k >= -2147483648`, Iceberg skips every file of `truncate(k, 10)` except those of
    that one bucket.
    """
    fields = (*facts.partition_fields, *facts.past_partition_fields)
    firsts = [
        (field.source.lower(), first) for field in fields if (first := _first(field.transform)) is not None
    ]
    return any(
        low < first
        for between in condition.find_all(exp.Between)
        for source, first in firsts
        if between.this.name.lower() == source and (low := _whole(between.args["low"])) is not None
    )


def may_reach_lowest_bucket(ranges: Iterable[KeyRange]) -> bool:
    """Whether a range may begin among such numbers, whatever the table is truncated by.

    No bucket of the least numbers is wider than half of the negative numbers.

    >>> may_reach_lowest_bucket([(-2147483648, 100)]), may_reach_lowest_bucket([(-5000, 100)])
    (True, False)
    """
    return any(isinstance(low, int) and low < _LEAST // 2 for low, _ in ranges)


def _first(transform: str) -> int | None:
    """Returns the first number whose bucket begins at a number of the type; None for other transforms."""
    found = _TRUNCATE.fullmatch(transform)
    if found is None:
        return None
    width = int(found[1])
    # A column that is BIGINT by now may have files that were written when it was INT.
    least = _LEAST if width <= -_LEAST else _LEAST_LONG
    return -(-least // width) * width


def _whole(literal: exp.Expr) -> int | None:
    number = literal.this if isinstance(literal, exp.Neg) else literal
    if not isinstance(number, exp.Literal) or number.is_string:
        return None
    return -int(number.name) if isinstance(literal, exp.Neg) else int(number.name)
