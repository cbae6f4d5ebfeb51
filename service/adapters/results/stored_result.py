"""A result as it is kept, in a folder or in an object store."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from uuid import UUID

from service.model.query.results import Chunk, Column, Manifest
from service.model.query.written_rows import Batch, WrittenRows


# Without slots: a result may have a hundred thousand chunks, which are walked once.
@dataclass(frozen=True)
class StoredResult:
    """All rows are in files. `origin` is the query that the rows were kept for first: others may share them.

    `expires_at_ms` is of the clock that its reader goes by.
    """

    origin: UUID
    columns: tuple[Column, ...]
    rows: WrittenRows
    is_truncated: bool
    expires_at_ms: int

    @property
    def file_bytes(self) -> int:
        """The bytes of its files."""
        return sum(part.length for part in self.rows.parts)

    @cached_property
    def manifest(self) -> Manifest:
        """Its shape, with a chunk for each batch."""
        chunks: list[Chunk] = []
        row_offset = 0
        for part in self.rows.parts:
            for batch in part.batches:
                chunks.append(Chunk(len(chunks), row_offset, batch.row_count))
                row_offset += batch.row_count
        return Manifest(self.columns, row_offset, self.rows.byte_count, tuple(chunks), self.is_truncated)

    def batch(self, index: int) -> tuple[str, Batch] | None:
        """Returns a batch by its place in the order of the rows, with its file's name; None if none is."""
        if not 0 <= index < self._ends[-1]:
            return None
        at = bisect_right(self._ends, index)
        part = self.rows.parts[at]
        return str(part.file), part.batches[index - self._ends[at] + len(part.batches)]

    @cached_property
    def _ends(self) -> list[int]:
        """The number of batches up to the end of each part."""
        return list(accumulate((len(part.batches) for part in self.rows.parts), initial=0))[1:] or [0]
