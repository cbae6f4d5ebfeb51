"""Chooses which ingests waiting for a table and branch the next commit round takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WaitingCommit:
    """One ingest's part for a table and branch. `arrival` increases in order of arrival."""

    arrival: int
    layout: str
    is_upsert: bool
    file_count: int
    byte_count: int
    record_count: int


@dataclass(frozen=True, slots=True)
class RoundSize:
    """The most that one round takes, unless a single ingest has more.

    `byte_count` bounds the bytes that describe files. `joined_rows` and `joined_files` bound an upsert
    together with everything before it in its round, because they are compared with each other.
    """

    files: int
    byte_count: int
    joined_rows: int
    joined_files: int


def next_round(waiting: Sequence[WaitingCommit], size: RoundSize) -> Sequence[WaitingCommit]:
    """Chooses from all waiting ingests, in order of arrival, those of a new round; at least one, if any.

    Files for another schema or partition spec get another round. So a table that has changed in the meantime
    rejects only the ingests from before the change.

    >>> waiting = [WaitingCommit(n, "a", n == 3, 1, 100, 10) for n in range(1, 5)]
    >>> [commit.arrival for commit in next_round(waiting, RoundSize(10, 1000, 100, 100))]
    [1, 2, 3, 4]
    >>> [commit.arrival for commit in next_round(waiting, RoundSize(10, 1000, 20, 100))]
    [1, 2]
    """
    return list(_fitting(_in_order(waiting), size))


def _in_order(waiting: Sequence[WaitingCommit]) -> Iterator[WaitingCommit]:
    """Those with the first one's layout. Appends may change order; an upsert and another write may not."""
    is_passed = False
    for commit in waiting:
        if commit.layout == waiting[0].layout:
            if commit.is_upsert and is_passed:
                return
            yield commit
        elif commit.is_upsert:
            return
        else:
            is_passed = True


def _fitting(waiting: Iterable[WaitingCommit], size: RoundSize) -> Iterator[WaitingCommit]:
    files = byte_count = rows = 0
    for place, commit in enumerate(waiting):
        files += commit.file_count
        byte_count += commit.byte_count
        rows += commit.record_count
        is_joined = commit.is_upsert and place > 0
        is_too_much = files > size.files or byte_count > size.byte_count
        if place and (is_too_much or (is_joined and (rows > size.joined_rows or files > size.joined_files))):
            return
        yield commit
