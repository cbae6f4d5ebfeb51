"""Tables and batches as an Arrow IPC stream, a batch at a time."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

_BATCH_BYTES = 8 * 1024 * 1024
_MAX_BATCH_ROWS = 65_536


class _Pieces(io.RawIOBase):
    """Takes the bytes that Arrow writes."""

    def __init__(self) -> None:
        self._taken: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._taken.append(bytes(data))
        return len(self._taken[-1])

    def drain(self) -> bytes:
        taken = b"".join(self._taken)
        self._taken.clear()
        return taken


def arrow_pieces(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """Yields the stream: the schema, each batch, the end."""
    pieces = _Pieces()
    with pa.PythonFile(pieces, mode="w") as sink, pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield pieces.drain()
        writer.close()
        yield pieces.drain()


def table_batches(rows: pa.Table) -> Iterator[pa.RecordBatch]:
    """Yields the rows in batches of about 8 MiB, which every gateway takes."""
    bytes_per_row = max(rows.nbytes // max(rows.num_rows, 1), 1)
    yield from rows.to_batches(max_chunksize=max(1, min(_MAX_BATCH_ROWS, _BATCH_BYTES // bytes_per_row)))
