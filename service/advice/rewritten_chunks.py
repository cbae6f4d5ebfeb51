"""The size of files after a rewrite: rows that lie together may take less space than they do now."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from service.advice.chunks import Chunks
from service.advice.coded_layout import CodedLayout
from service.model.query.layout_advice import AdviceKind, LayoutAdvice
from service.model.tables.rewritten_sizes import RewrittenSizes, RowOrder


def rewritten_chunks(
    coded: CodedLayout,
    advice: LayoutAdvice,
    chunks: Chunks,
    is_rewritten: npt.NDArray[np.bool_] | None = None,
) -> Chunks | None:
    """Returns the advised chunks with the bytes that their rows would take; None if that is not known.

    `is_rewritten` says which chunks are new files; None: all are.
    """
    if coded.rewritten is None:
        return None
    sizes = coded.rewritten.sizes(_order(coded, advice, chunks, is_rewritten), coded.is_late)
    return None if sizes is None else _resized(chunks, sizes, is_rewritten)


def _order(
    coded: CodedLayout, advice: LayoutAdvice, chunks: Chunks, is_rewritten: npt.NDArray[np.bool_] | None
) -> RowOrder:
    row_counts = chunks.row_counts if is_rewritten is None else chunks.row_counts[is_rewritten]
    file_rows = float(row_counts.mean()) if len(row_counts) else 1.0
    if advice.kind is AdviceKind.PARTITION:
        # A partition has several files if it is larger than one should be.
        layout = coded.layout
        file_rows = layout.target_file_bytes * layout.record_count / max(1, layout.byte_count)
    return RowOrder(
        file_rows=max(1, math.ceil(file_rows)), columns=advice.columns, transform=advice.transform
    )


def _resized(chunks: Chunks, sizes: RewrittenSizes, is_rewritten: npt.NDArray[np.bool_] | None) -> Chunks:
    ends = np.cumsum(chunks.row_counts)
    row_count = float(ends[-1]) if len(ends) else 0.0
    if not row_count:
        return chunks
    known = np.array([0.0, *sizes.ends])
    byte_sums = np.cumsum([0.0, *(np.diff(known) * sizes.row_bytes * row_count)])
    found = np.diff(np.interp(ends / row_count, known, byte_sums), prepend=0.0)
    if is_rewritten is not None:
        found = np.where(is_rewritten, found, chunks.byte_counts)
    return Chunks(found, chunks.row_counts, chunks.bounds)
