"""A predicate for many keys that stays true of all of them, whatever partitions are added."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from sqlglot import exp

from service.model.filters.key_set import FilterForm, Key, KeyRange, KeyValue
from service.pruning.predicates.predicate import (
    FormedPredicate,
    list_predicate,
    ranges_predicate,
    sorted_values,
)


def covering_predicate(
    column: str,
    type_name: str,
    keys: Sequence[Key],
    listed: Sequence[KeyValue],
    max_ranges: int,
    max_listed: int,
) -> FormedPredicate:
    """Returns a condition that is true of every key, and of as few other values of `listed` as possible.

    The table has no snapshots, so the query may find values that were not there when the table was listed.
    Therefore no key is left out, but a range may cover any value that was not there. If there would be too
    many ranges, up to `max_listed` keys that were there become a list, and ranges cover the others.

    >>> keys = [(1,), (3,), (5,), (7,), (40,), (50,)]
    >>> covering_predicate("k", "int", keys, [3, 5, 6, 8], 3, 0).condition.sql("spark")
    '(`k` BETWEEN 1 AND 5 OR `k` = 7 OR `k` BETWEEN 40 AND 50)'
    >>> covering_predicate("k", "int", keys, [3, 4, 5, 6, 8, 9], 3, 2).condition.sql("spark")
    '(`k` IN (3, 5) OR (`k` = 1 OR `k` = 7 OR `k` BETWEEN 40 AND 50))'
    """
    values = sorted_values(type_name, keys)
    listed_values = frozenset(listed)
    others = listed_values.difference(values)
    runs = _runs(values, others)
    found = [(value,) for value in values if value in listed_values]
    rest = _runs([value for value in values if value not in listed_values], others)
    if len(runs) <= max_ranges or len(rest) > max_ranges or not 0 < len(found) <= max_listed:
        return ranges_predicate(column, type_name, runs, max_ranges)
    condition = exp.or_(
        list_predicate(column, type_name, found).condition,
        ranges_predicate(column, type_name, rest, max_ranges).condition,
        copy=False,
    )
    return FormedPredicate(exp.paren(condition), FilterForm.IN)


def _runs(values: Sequence[Any], others: frozenset[Any]) -> list[KeyRange]:
    """Returns the values as ranges, each as long as possible with none of the others in it."""
    cuts = sorted({0, len(values), *(bisect_left(values, other) for other in others)})
    return [(values[first], values[after - 1]) for first, after in pairwise(cuts)]
