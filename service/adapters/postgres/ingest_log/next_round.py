"""Which of the ingests that wait for a table and branch the next commit round takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WaitingCommit:
    """What one ingest left for a table and branch. `arrival` grows with the order in which they came."""

    arrival: int
    layout: str
    is_upsert: bool
    file_count: int
    byte_count: int
    record_count: int


@dataclass(frozen=True, slots=True)
class RoundSize:
    """What one round takes at most, unless a single ingest has more.

    `byte_count` is of what is written down of files. `joined_rows` and `joined_files` are those of an upsert
    and of all that comes before it in its round, since they are compared with each other.
    """

    files: int
    byte_count: int
    joined_rows: int
    joined_files: int


def next_round(waiting: Sequence[WaitingCommit], size: RoundSize) -> Sequence[WaitingCommit]:
    """Those that a new round takes, of all in order of arrival; one at least, if there are any.

    What was written for another schema or partition spec has another round, so that a table which has changed
    since refuses no ingest but those from before.

    >>> waiting = [WaitingCommit(n, "a", n == 3, 1, 100, 10) for n in range(1, 5)]
    >>> [each.arrival for each in next_round(waiting, RoundSize(10, 1000, 100, 100))]
    [1, 2, 3, 4]
    >>> [each.arrival for each in next_round(waiting, RoundSize(10, 1000, 20, 100))]
    [1, 2]
    """
    return list(_fitting(_in_order(waiting), size))


def _in_order(waiting: Sequence[WaitingCommit]) -> Iterator[WaitingCommit]:
    """Those of the first one's layout. Appends may change places; an upsert and another write may not."""
    is_passed = False
    for each in waiting:
        if each.layout == waiting[0].layout:
            if each.is_upsert and is_passed:
                return
            yield each
        elif each.is_upsert:
            return
        else:
            is_passed = True


def _fitting(waiting: Iterable[WaitingCommit], size: RoundSize) -> Iterator[WaitingCommit]:
    files = byte_count = rows = 0
    for place, each in enumerate(waiting):
        files += each.file_count
        byte_count += each.byte_count
        rows += each.record_count
        is_joined = each.is_upsert and place > 0
        is_too_much = files > size.files or byte_count > size.byte_count
        if place and (is_too_much or (is_joined and (rows > size.joined_rows or files > size.joined_files))):
            return
        yield each
