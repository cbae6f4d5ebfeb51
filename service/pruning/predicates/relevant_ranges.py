"""Ranges of keys without the parts that the probe cannot hold."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.model.filters.column_values import ColumnValues
from service.model.filters.key_set import KeyRange


@dataclass(frozen=True, slots=True)
class RelevantRanges:
    """The ranges that are left. `is_all`: they leave out nothing that the probe holds."""

    ranges: tuple[KeyRange, ...]
    is_all: bool = False


def relevant_ranges(ranges: Sequence[KeyRange], column_values: ColumnValues | None) -> RelevantRanges:
    """Returns the parts of the ranges that a row of the probe may be in; all, if it may have new rows by now.

    >>> relevant_ranges([(1, 4), (6, 90)], ColumnValues(None, 3, 50, is_clustered=True)).ranges
    ((3, 4), (6, 50))
    """
    if column_values is None or (column_values.values is None and not column_values.is_pinned):
        return RelevantRanges(tuple(ranges))
    if column_values.values is not None:
        filtered = _to_values(ranges, column_values.values)
        if not column_values.is_pinned:
            return RelevantRanges(tuple(ranges), filtered.is_all and not column_values.has_null)
        return filtered
    lower: Any = column_values.lower
    upper: Any = column_values.upper
    if lower is None or upper is None:
        return RelevantRanges(())
    clipped = [(max(lower, low), min(upper, high)) for low, high in ranges]
    relevant = tuple(range_ for range_ in clipped if range_[0] <= range_[1])
    return RelevantRanges(relevant, is_all=relevant == ((lower, upper),))


def _to_values(ranges: Sequence[KeyRange], values: Sequence[Any]) -> RelevantRanges:
    counts = [bisect_right(values, high) - bisect_left(values, low) for low, high in ranges]
    relevant = tuple(range_ for range_, count in zip(ranges, counts, strict=True) if count)
    return RelevantRanges(relevant, is_all=sum(counts) == len(values))
