"""Bounds of a write: memory, files, and concurrent writers."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1024**2


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBounds:
    """Bounds of a write: it takes about three times `buffered_bytes`, plus what `open_files` hold back.

    Rows are sorted, and grouped by partition, within the buffered bytes. An upsert holds the last row of each
    key, at most `upsert_bytes` of them, and takes about three times that.

    A write makes at most `files` for each target: a partition for each row would make the number unbounded.
    In a write with many targets, `writers` targets are written at once if their rows fit into the buffer.
    """

    buffered_bytes: int = 64 * _MIB
    open_files: int = 16
    upsert_bytes: int = 128 * _MIB
    files: int = 10_000
    writers: int = 2
