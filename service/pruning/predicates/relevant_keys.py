"""A set of keys without those that the probe cannot hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from service.model.filters.column_values import ColumnValues
from service.model.filters.key_set import Key, KeyValue


@dataclass(frozen=True, slots=True)
class RelevantKeys:
    """The keys that are left, and what is known about the probe's values.

    `domain`: all values of the probe, when they are known. `is_all`: the keys leave none of them out.
    `listed`: the values that the probe had when it was listed. It may have others by now, so a key that is
    not among them stays.
    """

    values: tuple[Key, ...]
    domain: tuple[KeyValue, ...] | None = None
    is_all: bool = False
    listed: tuple[KeyValue, ...] | None = None


def relevant_keys(keys: tuple[Key, ...], column_values: ColumnValues | None) -> RelevantKeys:
    """Returns the keys that a row of the probe may have.

    A dimension has the dates of two centuries, a fact those of five years: the long list would cost more than
    it prunes.

    >>> relevant_keys(((1,), (2,), (9,)), ColumnValues((2, 3), 2, 3, is_clustered=True)).values
    ((2,),)
    """
    if column_values is None or (column_values.values is None and not column_values.is_pinned):
        return RelevantKeys(keys)
    if column_values.values is not None:
        known = frozenset(column_values.values)
        relevant = tuple(key for key in keys if key[0] in known)
        is_all = len(relevant) == len(known) and not column_values.has_null
        if not column_values.is_pinned:
            return RelevantKeys(keys, is_all=is_all, listed=column_values.values)
        return RelevantKeys(relevant, column_values.values, is_all=is_all)
    lower: Any = column_values.lower
    upper: Any = column_values.upper
    if lower is None or upper is None:
        return RelevantKeys(())
    return RelevantKeys(tuple(key for key in keys if lower <= key[0] <= upper))
