"""Bounds the texts of rests: in formats with columns, each of them repeats names that were sent once."""

from __future__ import annotations

from collections.abc import Iterator

from service.ingest.decoding.streams.plan import ReadPlan
from service.ingest.decoding.streams.read_bounds import ReadBounds, Room
from service.ingest.decoding.streams.rows import Rows, TargetRows

AT_ONCE_BYTES = 4 * 1024**2
"""About how many bytes of names and values are made into rests before their rows are yielded."""


def bounded_rests(rows: Iterator[Rows], plan: ReadPlan, bounds: ReadBounds) -> Iterator[Rows]:
    """Yields the same rows.

    Raises, while it is iterated:
        IngestInvalid: their rests have more bytes than a body may have.
    """
    rests = [None if target.rest is None else target.rest.column for target in plan.targets]
    if not any(rests):
        return rows
    return _counted(rows, rests, Room(bounds))


def _counted(rows: Iterator[Rows], rests: list[str | None], room: Room) -> Iterator[Rows]:
    for row in rows:
        if isinstance(row, TargetRows):
            column = rests[row.target]
            if column is not None:
                room.take(row.rows.column(column).nbytes)
        yield row
