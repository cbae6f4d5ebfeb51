"""The rows of a result, page by page: chunks are joined up to what a client takes at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Page:
    """Rows of a result; the first has the number `offset`."""

    offset: int
    rows: pa.Table


class ResultRows:
    """A result, and the place where its client reads. Only one thread at a time may read."""

    def __init__(self, schema: pa.Schema, chunk_rows: Sequence[int], read: Callable[[int], pa.Table]) -> None:
        """`chunk_rows` are the numbers of rows of the chunks that `read` returns."""
        self.schema = schema
        self._ends = list(accumulate(chunk_rows))
        self._read = read
        self._offset = 0

    def rewind(self) -> None:
        """Goes back to the first row."""
        self._offset = 0

    def page(self, max_rows: int, max_bytes: int) -> Page:
        """Returns the next rows: none after the last one, and else one at least.

        `max_bytes` counts them in Arrow.
        """
        parts: list[pa.Table] = []
        offset, left_rows, left_bytes = self._offset, max_rows, max_bytes
        while left_rows > 0 and self._offset < (self._ends[-1] if self._ends else 0):
            index = bisect_right(self._ends, self._offset)
            begin = self._ends[index - 1] if index else 0
            rows = self._read(index).slice(self._offset - begin, left_rows)
            fitting = _fitting(rows, left_bytes)
            if parts and not fitting:
                break
            part = rows.slice(0, max(1, fitting))
            parts.append(part)
            self._offset += part.num_rows
            left_rows -= part.num_rows
            left_bytes -= part.nbytes
            if part.num_rows < rows.num_rows:
                break
        return Page(offset, pa.concat_tables(parts) if parts else self.schema.empty_table())


def rows_of_table(table: pa.Table) -> ResultRows:
    """Returns a result that is there as a whole."""
    return ResultRows(table.schema, [table.num_rows], lambda _: table)


def _fitting(rows: pa.Table, max_bytes: int) -> int:
    """Returns how many of the first rows have about this many bytes."""
    row_count, byte_count = int(rows.num_rows), int(rows.nbytes)
    return row_count if byte_count <= max_bytes else max(0, row_count * max_bytes // byte_count)
