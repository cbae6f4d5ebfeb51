"""A whole result as one Arrow IPC stream: its schema, its messages as they lie in files, and the end mark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import accumulate, pairwise
from pathlib import Path

from service.adapters.results.message_files import as_expired
from service.adapters.results.stored_result import StoredResult
from service.errors.query_errors import ResultExpired

BLOCK_BYTES = 1 << 20
END_MARK = b"\xff\xff\xff\xff\0\0\0\0"


class ArrowStream:
    """Implements `service.ports.stores.result_files.ArrowFile`."""

    def __init__(self, stored: StoredResult, is_live: Callable[[], bool]) -> None:
        """`is_live` says whether the result may still be read."""
        schema = stored.rows.schema.serialize().to_pybytes()
        files = [(stored.folder / str(part.file), part.length) for part in stored.rows.parts]
        self._pieces: list[Path | bytes] = [schema, *(path for path, _ in files), END_MARK]
        lengths = [len(schema), *(length for _, length in files), len(END_MARK)]
        self._bounds = list(pairwise(accumulate(lengths, initial=0)))
        self._is_live = is_live

    @property
    def byte_count(self) -> int:
        """The bytes of the stream."""
        return self._bounds[-1][1]

    def blocks(self, start: int, stop: int) -> Iterator[bytes]:
        """See `ArrowFile`."""
        for piece, (begin, end) in zip(self._pieces, self._bounds, strict=True):
            first, last = max(start, begin) - begin, min(stop, end) - begin
            if first < last:
                yield from (
                    [piece[first:last]] if isinstance(piece, bytes) else self._of_file(piece, first, last)
                )

    def _of_file(self, path: Path, first: int, last: int) -> Iterator[bytes]:
        with as_expired(), path.open("rb", buffering=0) as file:
            file.seek(first)
            while first < last:
                if not self._is_live():
                    raise ResultExpired
                block = file.read(min(BLOCK_BYTES, last - first))
                if not block:
                    raise ResultExpired
                first += len(block)
                yield block
