"""Cuts the bytes of an Arrow stream, which come in blocks, into record batches."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import pyarrow as pa

from sluice_client.errors import AnswerTooLarge, UnexpectedAnswer

_PREFIX = struct.Struct("<II")
_CONTINUES = 0xFFFFFFFF
_MAX_METADATA_BYTES = 64 << 20
_SCHEMA, _RECORD_BATCH = 1, 3
_INVALID = "the rows are not a valid Arrow stream"


class NotPlain(Exception):
    """The stream has messages, such as dictionaries, that belong to several batches."""


class ArrowMessages:
    """Reads encapsulated messages from blocks. A message that lies in one block is not copied.

    Source: Arrow's columnar format, "Encapsulated message format", and `Message.fbs`.
    """

    def __init__(self, max_bytes: int) -> None:
        """`max_bytes` bounds one message."""
        self._max_bytes = max_bytes
        self._pieces: list[bytes] = []
        self._size = 0
        self._needed = _PREFIX.size
        self._has_ended = False
        self._kind = 0
        self.schema: pa.Schema | None = None

    @property
    def missing(self) -> int:
        """How many bytes are missing at least until the next message is complete; 0 at the end."""
        return 0 if self._has_ended else max(1, self._needed - self._size)

    def add(self, block: bytes) -> Iterator[pa.RecordBatch]:
        """Yields the batches that are complete with this block.

        Raises:
            NotPlain: a message belongs to several batches.
            AnswerTooLarge: a message is larger than allowed.
            UnexpectedAnswer: these are not the bytes of an Arrow stream.
        """
        self._pieces.append(block)
        self._size += len(block)
        if self._size < self._needed:
            return
        data = memoryview(self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces))
        at = 0
        while (length := self._length(data[at:])) is not None and not self._has_ended:
            if length > len(data) - at:
                break
            batch = self._read(data[at : at + length])
            at += length
            if batch is not None:
                yield batch
        rest = data[at:]
        if self._has_ended and len(rest) > _PREFIX.size:
            raise UnexpectedAnswer("there are bytes after the end of the Arrow stream")
        # The rest is copied, so that it does not keep the whole block.
        self._pieces, self._size = [bytes(rest)], len(rest)

    def end(self) -> None:
        """Checks that the stream is complete.

        Raises:
            UnexpectedAnswer: it is not.
        """
        if not self._has_ended:
            raise UnexpectedAnswer("the Arrow stream is not complete")

    def _length(self, data: memoryview) -> int | None:
        """Returns the bytes of the message that begins here; None if too few are there to know it."""
        self._needed = _PREFIX.size
        if len(data) < _PREFIX.size:
            return None
        marker, metadata_bytes = _PREFIX.unpack_from(data)
        if marker != _CONTINUES or metadata_bytes > _MAX_METADATA_BYTES:
            raise UnexpectedAnswer(_INVALID)
        if metadata_bytes == 0:
            self._has_ended = True
            return None
        self._needed = _PREFIX.size + metadata_bytes
        if len(data) < self._needed:
            return None
        self._kind, body_bytes = _kind_and_body(data[_PREFIX.size : self._needed])
        self._needed += body_bytes
        if self._needed > self._max_bytes:
            raise AnswerTooLarge(f"a chunk is larger than {self._max_bytes} bytes: see Bounds")
        return self._needed

    def _read(self, message: memoryview) -> pa.RecordBatch | None:
        try:
            if self.schema is None and self._kind == _SCHEMA:
                self.schema = pa.ipc.read_schema(pa.py_buffer(message))
                return None
            if self.schema is None or self._kind != _RECORD_BATCH:
                raise NotPlain
            return pa.ipc.read_record_batch(pa.py_buffer(message), self.schema)
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            kind = type(error).__name__
            raise UnexpectedAnswer(f"{_INVALID} ({kind})") from None


def _kind_and_body(metadata: memoryview) -> tuple[int, int]:
    """Returns the type of a message's header, and the length of its body.

    They are the fields 1 and 3 of the flat buffer's root table. A table begins with the way back to its
    vtable, which has the place of each field; 0: the field has its default.
    """
    try:
        (table,) = struct.unpack_from("<I", metadata)
        (back,) = struct.unpack_from("<i", metadata, table)
        kind_at, body_at = (_place(metadata, table - back, field) for field in (1, 3))
        kind = struct.unpack_from("<B", metadata, table + kind_at)[0] if kind_at else 0
        body = struct.unpack_from("<q", metadata, table + body_at)[0] if body_at else 0
    except struct.error:
        raise UnexpectedAnswer(_INVALID) from None
    if body < 0:
        raise UnexpectedAnswer(_INVALID)
    return kind, body


def _place(metadata: memoryview, vtable: int, field: int) -> int:
    if vtable < 0:
        raise UnexpectedAnswer(_INVALID)
    (size,) = struct.unpack_from("<H", metadata, vtable)
    at = 4 + 2 * field
    place: int = struct.unpack_from("<H", metadata, vtable + at)[0] if at < size else 0
    return place
