"""How much memory writing takes, and how much of it goes on at once."""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 1024**2


@dataclass(frozen=True, slots=True)
class WriteBounds:
    """How much memory a write takes: about three times `buffered_bytes`, and what `open_files` hold back.

    Rows are put in order, and brought together by partition, within as much as is buffered. An upsert holds
    the last row of each key, `upsert_bytes` of them at most, and takes about three times that.

    A write makes `files` for each target at most: with a partition for each row there would be no end. Of a
    write with many targets, `writers` are written at once where their rows fit into the buffer.
    """

    buffered_bytes: int = 64 * _MIB
    open_files: int = 16
    upsert_bytes: int = 128 * _MIB
    files: int = 10_000
    writers: int = 2
