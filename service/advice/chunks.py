"""Files of a layout, real or simulated, and those of them that a scan selects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.advice.value_codes import Codes

_LOOKS_AT_THE_TIME = 16


class OutOfTime(Exception):
    """Advice has taken too long."""


@dataclass(frozen=True, slots=True)
class CodedRanges:
    """Ranges in order that do not overlap, as codes; both bounds belong to a range."""

    lower: Codes
    upper: Codes

    @property
    def point_count(self) -> int:
        """How many single values these are; 0 if one of them is more than that."""
        return len(self.lower) if bool(np.all(self.lower == self.upper)) else 0


@dataclass(frozen=True, slots=True)
class CodedScan:
    """Equal scans: the ranges of each column that they were filtered by, and how many scans they are."""

    ranges: Mapping[str, CodedRanges]
    count: int


@dataclass(frozen=True, slots=True)
class ColumnBounds:
    """For each chunk, codes of its least and greatest value; if it has none, the least is the greater one."""

    lower: Codes
    upper: Codes


@dataclass(frozen=True, slots=True)
class ScanReads:
    """The files and the bytes that each of some scans reads."""

    files: npt.NDArray[np.float64]
    byte_counts: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chunks:
    """The files of a layout. A column without bounds selects all of them."""

    byte_counts: npt.NDArray[np.float64]
    row_counts: npt.NDArray[np.float64]
    bounds: Mapping[str, ColumnBounds]

    def selected(self, scan: CodedScan) -> npt.NDArray[np.bool_]:
        """Returns which files the scan reads, as Iceberg finds by their bounds."""
        found = np.ones(len(self.byte_counts), np.bool_)
        for column, ranges in scan.ranges.items():
            bounds = self.bounds.get(column)
            if bounds is not None:
                found &= _overlap(bounds, ranges)
        return found

    def taken(self, places: npt.NDArray[np.int64]) -> Chunks:
        """Returns the chunks at these places, in this order."""
        return Chunks(
            self.byte_counts[places],
            self.row_counts[places],
            {
                column: ColumnBounds(found.lower[places], found.upper[places])
                for column, found in self.bounds.items()
            },
        )

    def read_by(self, scans: Sequence[CodedScan], is_late: Callable[[], bool]) -> ScanReads:
        """Returns what each of the scans reads once.

        Raises:
            OutOfTime: it is late.
        """
        files, byte_counts = np.zeros(len(scans)), np.zeros(len(scans))
        for place, scan in enumerate(scans):
            if place % _LOOKS_AT_THE_TIME == _LOOKS_AT_THE_TIME - 1 and is_late():
                raise OutOfTime
            selected = self.selected(scan)
            files[place] = selected.sum()
            byte_counts[place] = self.byte_counts[selected].sum()
        return ScanReads(files, byte_counts)


def joined(parts: Sequence[Chunks]) -> Chunks:
    """Returns all chunks together; each part has bounds of the same columns."""
    return Chunks(
        np.concatenate([part.byte_counts for part in parts]),
        np.concatenate([part.row_counts for part in parts]),
        {
            column: ColumnBounds(
                np.concatenate([part.bounds[column].lower for part in parts]),
                np.concatenate([part.bounds[column].upper for part in parts]),
            )
            for column in parts[0].bounds
        },
    )


def _overlap(bounds: ColumnBounds, ranges: CodedRanges) -> npt.NDArray[np.bool_]:
    if not len(ranges.lower):
        return np.zeros(len(bounds.lower), np.bool_)
    # The first range that does not end before the chunk begins is the only one to look at.
    place = np.searchsorted(ranges.upper, bounds.lower)
    is_there = place < len(ranges.upper)
    begins = ranges.lower[np.minimum(place, len(ranges.lower) - 1)]
    has_values = bounds.lower <= bounds.upper
    found: npt.NDArray[np.bool_] = is_there & (begins <= bounds.upper) & has_values
    return found
