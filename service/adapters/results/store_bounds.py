"""The bounds of a store of results."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultBounds:
    """How long results live, how much room they take together, and how they are divided.

    `inline_bytes` and `driver_bytes` are those of `ResultPlace`. A folder of rows that never became a result
    is deleted after `unfinished_after`.
    """

    time_to_live: timedelta = timedelta(hours=1)
    total_bytes: int = 4 << 30
    chunk_rows: int = 10_000
    chunk_bytes: int = 8 << 20
    inline_bytes: int = 256 << 10
    driver_bytes: int = 4 << 20
    unfinished_after: timedelta = timedelta(hours=2)
