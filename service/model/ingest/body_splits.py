"""Parts of a request's body, which executors read each by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BodySplit:
    """Whole records: so many bytes of the body when it is unpacked, the first on the line of this number.

    `header` is what stands before them for whoever reads them by themselves.
    """

    start: int
    end: int
    first_line: int = 1
    header: bytes = b""


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Row groups of a body in Parquet, from `start` on and before `end`; the first row has this number."""

    start: int
    end: int
    first_row: int = 1
