"""The share of a table's files and bytes that remains for ranges of a column's values."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter
from typing import Any, TypeAlias

from service.model.filters.key_set import KeyRange, KeyValue

SizedInterval: TypeAlias = tuple[tuple[KeyValue, KeyValue], int, int]
"""The least and the greatest value of some files, the number of those files, and their bytes."""


@dataclass(frozen=True, slots=True, order=True)
class FileShare:
    """A part of a table's files, from 0 to 1: as a share of their bytes, then of their number.

    Shares are compared by bytes first.
    """

    of_bytes: float
    of_files: float


WHOLE = FileShare(1.0, 1.0)
# Each range takes two look-ups: hundreds take less than a millisecond, ten thousand more than a query may.
_LOOKED_AT = 512


@dataclass(frozen=True, slots=True)
class _FilesInOrder:
    """Files ordered by one of their bounds; the counts at index n are sums over the first n bounds."""

    bounds: tuple[Any, ...]
    counts: tuple[int, ...]
    byte_counts: tuple[int, ...]

    @staticmethod
    def of(intervals: Iterable[SizedInterval], bound: Callable[[Any], Any]) -> _FilesInOrder:
        ordered = sorted((bound(interval), count, byte_count) for interval, count, byte_count in intervals)
        return _FilesInOrder(
            tuple(value for value, _, _ in ordered),
            tuple(accumulate((count for _, count, _ in ordered), initial=0)),
            tuple(accumulate((byte_count for _, _, byte_count in ordered), initial=0)),
        )


@dataclass(frozen=True, slots=True)
class FileSizes:
    """The files of one snapshot that hold values of one column, and their sizes."""

    _by_lower: _FilesInOrder
    _by_upper: _FilesInOrder

    @staticmethod
    def of(intervals: Sequence[SizedInterval]) -> FileSizes:
        """Returns the sizes of these intervals, which cover all files that hold a value.

        Values of one column can be compared with each other.
        """
        return FileSizes(
            _FilesInOrder.of(intervals, itemgetter(0)), _FilesInOrder.of(intervals, itemgetter(1))
        )

    @property
    def length(self) -> int:
        """The number of intervals; memory use grows with it."""
        return len(self._by_lower.bounds)

    def share(self, ranges: Sequence[KeyRange]) -> FileShare:
        """Returns the share of the files that may hold a value in these ordered, disjoint ranges.

        A file that reaches into several ranges is counted for each, but the sum is at most the share of
        everything between the first range and the last. If there are many ranges, that upper bound is the
        result.

        >>> sizes = FileSizes.of([((1, 4), 1, 100), ((5, 8), 1, 200), ((7, 9), 2, 100)])
        >>> sizes.share([(4, 4), (5, 6)])
        FileShare(of_bytes=0.75, of_files=0.5)
        >>> sizes.share([(6, 6), (7, 7), (8, 8)])
        FileShare(of_bytes=0.75, of_files=0.75)
        """
        if not ranges:
            return FileShare(0.0, 0.0)
        whole = self._within(ranges[0][0], ranges[-1][1])
        parts = [self._within(*one) for one in ranges] if len(ranges) <= _LOOKED_AT else [whole]
        count = min(sum(one for one, _ in parts), whole[0])
        byte_count = min(sum(one for _, one in parts), whole[1])
        return FileShare(
            byte_count / max(self._by_lower.byte_counts[-1], 1), count / max(self._by_lower.counts[-1], 1)
        )

    def _within(self, low: KeyValue, high: KeyValue) -> tuple[int, int]:
        """Returns how many files, of how many bytes, neither begin after the range nor end before it."""
        begun = bisect_right(self._by_lower.bounds, high)
        ended = bisect_left(self._by_upper.bounds, low)
        return (
            self._by_lower.counts[begun] - self._by_upper.counts[ended],
            self._by_lower.byte_counts[begun] - self._by_upper.byte_counts[ended],
        )
