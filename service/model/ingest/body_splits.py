"""Parts of a request's body, each of which an executor reads by itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BodySplit:
    """Whole records: the bytes from `start` to `end` (exclusive) of the uncompressed body.

    `first_line` is the line of the first record. `header` comes before the records when they are read by
    themselves.
    """

    start: int
    end: int
    first_line: int = 1
    header: bytes = b""


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Row groups `start` to `end` (exclusive) of a body in Parquet; `first_row` numbers its first row."""

    start: int
    end: int
    first_row: int = 1
