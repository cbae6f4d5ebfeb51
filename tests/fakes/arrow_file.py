"""A whole result in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from service.errors.query_errors import ResultExpired

BLOCK_BYTES = 64


class FakeArrowFile:
    """Its blocks are small, so that few rows have several."""

    def __init__(
        self, rows: pa.Table, is_live: Callable[[], bool] = lambda: True, batch_rows: int | None = None
    ) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows, max_chunksize=batch_rows)
        self._bytes: bytes = sink.getvalue().to_pybytes()
        self._is_live = is_live

    @property
    def byte_count(self) -> int:
        return len(self._bytes)

    def blocks(self, start: int, stop: int) -> Iterator[bytes]:
        for first in range(start, stop, BLOCK_BYTES):
            if first > start and not self._is_live():
                raise ResultExpired
            yield self._bytes[first : min(first + BLOCK_BYTES, stop)]
