"""The rows of a result, page by page: chunks are joined up to what a client takes at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

import pyarrow as pa

from api.hive_server.rows.kept_chunks import ChunkPlace


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a result; the first has the number `offset`."""

    offset: int
    rows: pa.Table


class Chunks(Protocol):
    """The chunks of a result. Only one thread at a time may call them."""

    def read(self, index: int) -> pa.Table:
        """Returns the rows of a chunk; the same on every call. Raises what reading it raises."""

    def was_read(self, index: int, chunk: pa.Table, *, to_its_end: bool) -> None:
        """Tells how far a chunk was read."""


@dataclass(frozen=True, slots=True)
class StoredChunks:
    """Implements `Chunks`: the one that was read in part is kept for the next page.

    `check` is called before kept rows are returned, and raises if the client may not have them any more.
    """

    load: Callable[[int], pa.Table]
    check: Callable[[], object]
    place: ChunkPlace

    def read(self, index: int) -> pa.Table:
        """See `Chunks`."""
        kept = self.place.find(index)
        if kept is not None:
            self.check()
            return kept
        return self.load(index)

    def was_read(self, index: int, chunk: pa.Table, *, to_its_end: bool) -> None:
        """See `Chunks`."""
        if to_its_end:
            self.place.leave()
        else:
            self.place.keep(index, chunk)


@dataclass(frozen=True, slots=True)
class _Whole:
    table: pa.Table

    def read(self, index: int) -> pa.Table:  # noqa: ARG002
        return self.table

    def was_read(self, index: int, chunk: pa.Table, *, to_its_end: bool) -> None:
        """Does nothing: it stays where it is."""


class ResultRows:
    """A result, and the place where its client reads. Only one thread at a time may read."""

    def __init__(self, schema: pa.Schema, chunk_rows: Sequence[int], chunks: Chunks) -> None:
        """`chunk_rows` are the numbers of rows of the chunks."""
        self.schema = schema
        self._ends = list(accumulate(chunk_rows))
        self._chunks = chunks
        self._offset = 0

    def rewind(self) -> None:
        """Goes back to the first row."""
        self._offset = 0

    def page(self, max_rows: int, max_bytes: int) -> Page:
        """Returns the next rows: none after the last one, and else one at least.

        `max_bytes` counts them in Arrow. If a chunk cannot be read, what that raises passes through, and the
        next page begins where this one would have.
        """
        parts: list[pa.Table] = []
        offset, left_rows, left_bytes = self._offset, max_rows, max_bytes
        while left_rows > 0 and offset < (self._ends[-1] if self._ends else 0):
            index = bisect_right(self._ends, offset)
            begin = self._ends[index - 1] if index else 0
            chunk = self._chunks.read(index)
            rows = chunk.slice(offset - begin, left_rows)
            fitting = _fitting(rows, left_bytes)
            part = rows.slice(0, fitting if parts else max(1, fitting))
            parts.append(part)
            offset += part.num_rows
            left_rows -= part.num_rows
            left_bytes -= part.nbytes
            self._chunks.was_read(index, chunk, to_its_end=offset == self._ends[index])
            if part.num_rows < rows.num_rows:
                break
        page = Page(self._offset, pa.concat_tables(parts) if parts else self.schema.empty_table())
        self._offset = offset
        return page


def rows_of_table(table: pa.Table) -> ResultRows:
    """Returns a result that is there as a whole."""
    return ResultRows(table.schema, [table.num_rows], _Whole(table))


def _fitting(rows: pa.Table, max_bytes: int) -> int:
    """Returns how many of the first rows have about this many bytes."""
    row_count, byte_count = int(rows.num_rows), int(rows.nbytes)
    return row_count if byte_count <= max_bytes else max(0, row_count * max_bytes // byte_count)
