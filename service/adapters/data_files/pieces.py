"""Rows in pieces that memory, files and row groups can take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa

BATCH_BYTES = 1024
"""What a batch takes in memory for itself, however few rows it has."""


def chunks(batches: Iterable[pa.RecordBatch], max_bytes: int) -> Iterator[list[pa.RecordBatch]]:
    """The batches, so many together as fit; one that is too large by itself is taken apart."""
    buffered: list[pa.RecordBatch] = []
    byte_count = 0
    for batch in batches:
        for piece in pieces(batch, max_bytes):
            piece_bytes = max(piece.nbytes, BATCH_BYTES)
            if buffered and byte_count + piece_bytes > max_bytes:
                yield buffered
                buffered, byte_count = [], 0
            buffered.append(piece)
            byte_count += piece_bytes
    if buffered:
        yield buffered


def pieces(rows: pa.Table, max_bytes: int, max_rows: int = 2**31) -> Iterator[pa.Table]:
    """Pieces of about equal size, none without rows."""
    if rows.num_rows == 0:
        return
    count = max(-(-rows.nbytes // max_bytes), -(-rows.num_rows // max_rows), 1)
    length = -(-rows.num_rows // count)
    for start in range(0, rows.num_rows, length):
        yield rows.slice(start, length)
