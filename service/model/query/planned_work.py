"""How much a planned query is expected to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlannedWork:
    """The engine's estimate, made from the plan before its first job.

    `selected_bytes` are those of the files that the scans select, and of rows that the plan makes without a
    table. `is_bounded`: the rows in between are about as many as those that are read. It is False for joins
    without keys, recursions and the like.
    """

    selected_bytes: int
    is_bounded: bool = True
