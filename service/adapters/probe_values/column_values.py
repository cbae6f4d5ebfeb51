"""What a column holds, put together from the intervals of its files."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from service.adapters.probe_values.manifest_intervals import HeldIntervals
from service.model.column_values import ColumnValues
from service.model.file_sizes import FileSizes

# A value that is looked for lies in so large a share of the files at most, or in hardly more than one.
_TIGHT_SHARE = 0.1
_TIGHT_FILES = 1.25


def column_values(held: HeldIntervals) -> ColumnValues:
    """The values, when each file has one only; the bounds of all; and whether files overlap little.

    >>> from collections import Counter
    >>> column_values(HeldIntervals(Counter({(1, 1): 5, (3, 3): 1}), None))
    ColumnValues(values=(1, 3), lower=1, upper=3, is_tight=False)
    >>> column_values(HeldIntervals(Counter({(1, 4): 1, (5, 9): 1}), None))
    ColumnValues(values=None, lower=1, upper=9, is_tight=True)
    """
    counts = held.counts
    # Values of one column can be compared with each other, which their common type does not say.
    files: Sequence[tuple[Any, Any]] = list(counts.elements())
    lowers = sorted(lower for lower, _ in files)
    uppers = sorted(upper for _, upper in files)
    if not files:
        return ColumnValues((), None, None, is_tight=False)
    has_one_value_each = all(lower == upper for lower, upper in counts)
    values = tuple(sorted({lower for lower, _ in files})) if has_one_value_each else None
    return ColumnValues(values, lowers[0], uppers[-1], _is_tight(lowers, uppers), _sizes(held))


def _sizes(held: HeldIntervals) -> FileSizes | None:
    if held.byte_counts is None:
        return None
    sized = ((interval, count, held.byte_counts[interval]) for interval, count in held.counts.items())
    return FileSizes.of(list(sized))


def _is_tight(lowers: Sequence[Any], uppers: Sequence[Any]) -> bool:
    """Looks for each file's least value, and counts the files that may hold it."""
    if len(lowers) < 2:
        return False
    found = sum(bisect_right(lowers, value) - bisect_left(uppers, value) for value in lowers)
    return found / len(lowers) <= max(_TIGHT_FILES, _TIGHT_SHARE * len(lowers))
