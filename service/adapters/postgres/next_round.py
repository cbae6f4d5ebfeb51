"""Which of the ingests that wait for a table and branch the next commit round takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class WaitingCommit:
    """What one ingest left for a table and branch. `arrival` grows with the order in which they came."""

    arrival: int
    layout: str
    is_upsert: bool
    file_count: int
    byte_count: int


def next_round(waiting: Sequence[WaitingCommit], max_files: int, max_bytes: int) -> Sequence[WaitingCommit]:
    """Those that a new round takes, of all in order of arrival; one at least, if there are any.

    An upsert has a round of its own: a row that it replaces must be in an older snapshot, and one that comes
    after it in a younger one. What was written for another schema or partition spec has another round, so
    that a table which has changed since refuses no ingest but those from before.

    >>> waiting = [WaitingCommit(n, "a", n == 3, 1, 100) for n in range(1, 5)]
    >>> [each.arrival for each in next_round(waiting, 10, 1000)]
    [1, 2]
    """
    if not waiting:
        return []
    first = waiting[0]
    if first.is_upsert:
        return [first]
    joining = [each for each in _until_upsert(waiting) if each.layout == first.layout]
    files = accumulate(each.file_count for each in joining)
    sizes = accumulate(each.byte_count for each in joining)
    fitting = zip(joining, files, sizes, strict=True)
    return [each for each, count, size in fitting if count <= max_files and size <= max_bytes] or [first]


def _until_upsert(waiting: Sequence[WaitingCommit]) -> Iterable[WaitingCommit]:
    for each in waiting:
        if each.is_upsert:
            return
        yield each
