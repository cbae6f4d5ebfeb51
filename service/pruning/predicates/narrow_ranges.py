"""Ranges of keys without the parts that the probe cannot hold."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.model.filters.column_values import ColumnValues
from service.model.filters.filtering import KeyRange


@dataclass(frozen=True, slots=True)
class NarrowedRanges:
    """The ranges that are left. `is_all`: they leave out nothing that the probe holds."""

    ranges: tuple[KeyRange, ...]
    is_all: bool = False


def narrow_ranges(ranges: Sequence[KeyRange], held: ColumnValues | None) -> NarrowedRanges:
    """Returns the parts of the ranges that a row of the probe may be in; all, if it may have new rows by now.

    >>> narrow_ranges([(1, 4), (6, 90)], ColumnValues(None, 3, 50, is_tight=True)).ranges
    ((3, 4), (6, 50))
    """
    if held is None or (held.values is None and not held.is_pinned):
        return NarrowedRanges(tuple(ranges))
    if held.values is not None:
        narrowed = _to_values(ranges, held.values)
        if not held.is_pinned:
            return NarrowedRanges(tuple(ranges), narrowed.is_all and not held.has_null)
        return narrowed
    lower: Any = held.lower
    upper: Any = held.upper
    if lower is None or upper is None:
        return NarrowedRanges(())
    clipped = [(max(lower, low), min(upper, high)) for low, high in ranges]
    kept = tuple(each for each in clipped if each[0] <= each[1])
    return NarrowedRanges(kept, is_all=kept == ((lower, upper),))


def _to_values(ranges: Sequence[KeyRange], values: Sequence[Any]) -> NarrowedRanges:
    counts = [bisect_right(values, high) - bisect_left(values, low) for low, high in ranges]
    kept = tuple(each for each, count in zip(ranges, counts, strict=True) if count)
    return NarrowedRanges(kept, is_all=sum(counts) == len(values))
