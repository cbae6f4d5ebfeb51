"""Combines the intervals of a column's files into the values that the column holds."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from service.adapters.probe_values.manifest_intervals import CachedIntervals
from service.model.filters.column_values import ColumnValues, FileOverlap, NotKnown
from service.model.filters.file_sizes import FileSizes

# A column is clustered if a value is, on average, in at most this share of the files. With few files, the
# limit is hardly more than one file, or two of four and more, because one file's end may be the next one's
# beginning.
_CLUSTERED_SHARE = 0.1
_CLUSTERED_FILES = 1.25
_CLUSTERED_NEIGHBOURS = 2.0
# Very many files are sampled: at least this many, to estimate how much all overlap.
_LOOKED_AT = 1_000


def column_values(intervals: CachedIntervals, *, is_sample: bool = False) -> ColumnValues | NotKnown:
    """Returns the values if each file has only one, the bounds of all, and whether files overlap little.

    Files without bounds may hold anything, and so may those that a sample leaves out: a read may then find
    other values.

    >>> from collections import Counter
    >>> column_values(CachedIntervals(Counter({(1, 1): 5, (3, 3): 1}), None))
    ColumnValues(values=(1, 3), lower=1, upper=3, is_clustered=False)
    >>> column_values(CachedIntervals(Counter({(1, 4): 1, (5, 9): 1}), None))
    ColumnValues(values=None, lower=1, upper=9, is_clustered=True)
    """
    counts, unbounded = intervals.counts, intervals.unbounded
    # Values of one column can be compared with each other, although their common type does not say so.
    files: Sequence[tuple[Any, Any]] = list(counts.elements())
    lowers = sorted(lower for lower, _ in files)
    uppers = sorted(upper for _, upper in files)
    is_pinned = not unbounded and not is_sample
    if not files:
        return ColumnValues((), None, None, is_clustered=False) if is_pinned else NotKnown.UNAVAILABLE
    has_one_value_each = is_pinned and all(lower == upper for lower, upper in counts)
    values = tuple(sorted({lower for lower, _ in files})) if has_one_value_each else None
    is_clustered = _is_clustered(lowers, uppers, unbounded)
    # If each value is in most of very many files, their sizes take long to sort, and say little.
    has_sizes = is_pinned and (is_clustered or values is not None or len(files) <= _LOOKED_AT)
    return ColumnValues(
        values,
        lowers[0],
        uppers[-1],
        is_clustered,
        _sizes(intervals) if has_sizes else None,
        is_pinned=is_pinned,
        overlap=None if is_clustered else _overlap(files, lowers, uppers, unbounded),
    )


def _sizes(intervals: CachedIntervals) -> FileSizes | None:
    if intervals.byte_counts is None:
        return None
    sized = (
        (interval, count, intervals.byte_counts[interval]) for interval, count in intervals.counts.items()
    )
    return FileSizes.of(list(sized))


def _is_clustered(lowers: Sequence[Any], uppers: Sequence[Any], unbounded: int) -> bool:
    """Whether few files may hold a value, on average; it checks each file's least value."""
    count = len(lowers) + unbounded
    if len(lowers) < 2:
        return False
    looked_at = _some(lowers)
    found = sum(_meeting(lowers, uppers, value, value) for value in looked_at) / len(looked_at) + unbounded
    few = max(_CLUSTERED_FILES, min(_CLUSTERED_NEIGHBOURS, count / 2))
    return found <= max(few, _CLUSTERED_SHARE * count)


def _overlap(
    files: Sequence[tuple[Any, Any]], lowers: Sequence[Any], uppers: Sequence[Any], unbounded: int
) -> FileOverlap:
    """A file without bounds overlaps all others. The count is an estimate if there are very many files."""
    looked_at = _some(files)
    meeting = (_meeting(lowers, uppers, lower, upper) + unbounded for lower, upper in looked_at)
    share = sum(count > 1 for count in meeting) / len(looked_at)
    return FileOverlap(round(share * len(files)) + unbounded, len(files) + unbounded)


def _some(files: Sequence[Any]) -> Sequence[Any]:
    return files[:: max(1, len(files) // _LOOKED_AT)]


def _meeting(lowers: Sequence[Any], uppers: Sequence[Any], lower: Any, upper: Any) -> int:
    """How many files neither begin after `upper` nor end before `lower`."""
    return bisect_right(lowers, upper) - bisect_left(uppers, lower)
