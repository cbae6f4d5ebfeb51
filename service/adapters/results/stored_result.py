"""A result as it lies in its folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from service.model.query.results import Chunk, Column, Manifest
from service.model.query.written_rows import Batch, WrittenRows


@dataclass(frozen=True, slots=True)
class StoredResult:
    """All rows are in files. `origin` is the query that the rows were kept for first: others may share them.

    `expires_at_ms` is of the clock that its reader goes by.
    """

    folder: Path
    origin: UUID
    columns: tuple[Column, ...]
    rows: WrittenRows
    is_truncated: bool
    expires_at_ms: int

    @property
    def file_bytes(self) -> int:
        """The bytes of its files."""
        return sum(part.length for part in self.rows.parts)

    def manifest(self) -> Manifest:
        """Returns its shape, with a chunk for each batch."""
        chunks: list[Chunk] = []
        row_offset = 0
        for _, batch in self.batches():
            chunks.append(Chunk(len(chunks), row_offset, batch.row_count))
            row_offset += batch.row_count
        return Manifest(self.columns, row_offset, self.rows.byte_count, tuple(chunks), self.is_truncated)

    def batches(self) -> list[tuple[Path, Batch]]:
        """Returns the batches with their files, in the order of the rows."""
        return [(self.folder / str(part.file), batch) for part in self.rows.parts for batch in part.batches]
