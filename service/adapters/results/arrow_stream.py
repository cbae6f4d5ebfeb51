"""A whole result as one Arrow IPC stream: its schema, its messages as they are kept, and the end mark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from pathlib import Path

from service.adapters.results.message_files import as_expired
from service.errors.query_errors import ResultExpired
from service.model.query.written_rows import Part, WrittenRows

BLOCK_BYTES = 1 << 20
END_MARK = b"\xff\xff\xff\xff\0\0\0\0"

ReadBlocks = Callable[[str, int, int], Iterator[bytes]]
"""Yields the bytes of a file by its name, from the second argument until before the third."""


class ArrowStream:
    """Implements `service.ports.stores.result_files.StoredFile`."""

    def __init__(self, rows: WrittenRows, read: ReadBlocks) -> None:
        """`read` yields blocks of at most `BLOCK_BYTES`, and raises as `StoredFile.blocks`."""
        schema = rows.schema.serialize().to_pybytes()
        self._pieces: list[Part | bytes] = [schema, *rows.parts, END_MARK]
        lengths = [len(schema), *(part.length for part in rows.parts), len(END_MARK)]
        self._bounds = list(pairwise(accumulate(lengths, initial=0)))
        self._read = read

    @property
    def byte_count(self) -> int:
        """The bytes of the stream."""
        return self._bounds[-1][1]

    def blocks(self, start: int, stop: int) -> Iterator[bytes]:
        """See `StoredFile`."""
        for piece, (begin, end) in zip(self._pieces, self._bounds, strict=True):
            first, last = max(start, begin) - begin, min(stop, end) - begin
            if first < last:
                yield from self._of_piece(piece, first, last)

    def _of_piece(self, piece: Part | bytes, first: int, last: int) -> Iterator[bytes]:
        if isinstance(piece, bytes):
            return iter([piece[first:last]])
        offset = piece.batches[0].offset
        return self._read(str(piece.file), offset + first, offset + last)


class FileBlocks:
    """The blocks of the files in one folder."""

    def __init__(self, folder: Path, is_live: Callable[[], bool]) -> None:
        """`is_live` says whether the result may still be read."""
        self._folder = folder
        self._is_live = is_live

    def read(self, name: str, first: int, last: int) -> Iterator[bytes]:
        """See `ReadBlocks`."""
        with as_expired(), (self._folder / name).open("rb", buffering=0) as file:
            file.seek(first)
            while first < last:
                if not self._is_live():
                    raise ResultExpired
                block = file.read(min(BLOCK_BYTES, last - first))
                if not block:
                    raise ResultExpired
                first += len(block)
                yield block
