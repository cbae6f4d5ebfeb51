"""Arrow messages in objects: how rows get there, and back."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from uuid import UUID

import pyarrow as pa

from service.adapters.results.arrow_stream import BLOCK_BYTES
from service.adapters.results.message_files import cuts, write_messages
from service.adapters.results.objects.bucket import Bucket
from service.adapters.results.objects.store_failures import ObjectGone
from service.adapters.results.store_bounds import ResultBounds
from service.errors.query_errors import ResultExpired
from service.model.query.written_rows import Batch, Part, WrittenRows

HELD_BYTES = 8 << 20
READ_BYTES = 4 << 20
"""A download reads so much at once, and holds it until its reader has taken it."""
INLINE_NAME = "inline.part"


def put_rows(bucket: Bucket, query_id: UUID, rows: pa.Table, bounds: ResultBounds) -> WrittenRows:
    """Writes the rows as one object. Many of them are on the disk before.

    Raises:
        OSError: they cannot be held there.
        ResultStoreDown: the store does not answer.
    """
    with tempfile.SpooledTemporaryFile(HELD_BYTES) as file:
        written = write_messages(file, rows, cuts(rows, bounds.chunk_rows, bounds.chunk_bytes))
        file.seek(0)
        bucket.put(file, str(query_id), str(written.parts[0].file))
    return written


def with_objects(bucket: Bucket, query_id: UUID, rows: WrittenRows) -> WrittenRows:
    """Writes the parts that are not in the store yet, together as one object.

    Raises:
        ResultStoreDown: the store does not answer.
    """
    parts: list[Part] = []
    data = bytearray()
    for part in rows.parts:
        if part.file is None:
            parts.append(Part(_moved(part, len(data)), INLINE_NAME))
            data += part.inline
        else:
            parts.append(part)
    if data:
        bucket.put(bytes(data), str(query_id), INLINE_NAME)
    return WrittenRows(rows.schema, tuple(parts))


def read_batch(bucket: Bucket, origin: UUID, name: str, batch: Batch, schema: pa.Schema) -> pa.Table:
    """Returns the rows of a batch.

    Raises:
        ResultExpired: the object is gone.
        ResultStoreDown: the store does not answer.
    """
    message = _read(bucket, batch.offset, batch.offset + batch.length, origin, name)
    return pa.Table.from_batches([pa.ipc.read_record_batch(pa.py_buffer(message), schema)])


class ObjectBlocks:
    """The blocks of the objects of one result, read by ranges: a slow reader keeps no connection open."""

    def __init__(self, bucket: Bucket, origin: UUID, is_live: Callable[[], bool]) -> None:
        """`is_live` says whether the result may still be read."""
        self._bucket = bucket
        self._origin = origin
        self._is_live = is_live

    def read(self, name: str, first: int, last: int) -> Iterator[bytes]:
        """See `service.adapters.results.arrow_stream.ReadBlocks`."""
        for start in range(first, last, READ_BYTES):
            stop = min(last, start + READ_BYTES)
            if not self._is_live():
                raise ResultExpired
            data = memoryview(_read(self._bucket, start, stop, self._origin, name))
            for at in range(0, len(data), BLOCK_BYTES):
                yield bytes(data[at : at + BLOCK_BYTES])


def _moved(part: Part, by: int) -> tuple[Batch, ...]:
    return tuple(
        Batch(batch.offset + by, batch.length, batch.row_count, batch.byte_count) for batch in part.batches
    )


def _read(bucket: Bucket, first: int, last: int, origin: UUID, name: str) -> bytes:
    try:
        return bucket.get_range(first, last, str(origin), name)
    except ObjectGone as gone:
        raise ResultExpired from gone
