"""Splits rows into pieces that fit memory, files and row groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

BATCH_BYTES = 1024
"""The memory that a batch takes by itself, however few rows it has."""


def chunks(batches: Iterable[pa.RecordBatch], max_bytes: int) -> Iterator[list[pa.RecordBatch]]:
    """Groups batches so that each group fits; a batch that is too large by itself is split."""
    buffered: list[pa.RecordBatch] = []
    byte_count = 0
    for batch in batches:
        for piece, piece_bytes in measured_pieces(batch, max_bytes):
            if buffered and byte_count + piece_bytes > max_bytes:
                yield buffered
                buffered, byte_count = [], 0
            buffered.append(piece)
            byte_count += piece_bytes
    if buffered:
        yield buffered


def measured_pieces(batch: pa.RecordBatch, max_bytes: int) -> Iterator[tuple[pa.RecordBatch, int]]:
    """The batch's pieces with the memory that each takes. Measuring takes longer than slicing."""
    for piece, byte_count in _measured(batch, max_bytes, batch.num_rows):
        yield piece, max(byte_count, BATCH_BYTES)


def pieces(rows: pa.Table, max_bytes: int, max_rows: int) -> Iterator[pa.Table]:
    """Pieces of about equal size, none without rows."""
    # The buffers' size is all the memory that the rows take, and is computed fifty times as fast as their
    # share of it.
    if 0 < rows.num_rows <= max_rows and rows.get_total_buffer_size() <= max_bytes:
        return iter((rows,))
    return (piece for piece, _ in _measured(rows, max_bytes, max_rows))


def _measured(rows: Any, max_bytes: int, max_rows: int) -> Iterator[tuple[Any, int]]:
    if rows.num_rows == 0:
        return
    byte_count = rows.nbytes
    count = max(-(-byte_count // max_bytes), -(-rows.num_rows // max_rows), 1)
    if count == 1:
        yield rows, byte_count
        return
    length = -(-rows.num_rows // count)
    for start in range(0, rows.num_rows, length):
        piece = rows.slice(start, length)
        yield piece, piece.nbytes
