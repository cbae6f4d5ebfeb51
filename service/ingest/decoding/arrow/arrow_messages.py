"""Reads a stream of Arrow message by message, and measures each before Arrow allocates memory for it.

Source: the Arrow columnar format, "Serialization and Interprocess Communication"; `Message.fbs`.
"""

from __future__ import annotations

import io
import struct
from collections import deque
from collections.abc import Iterable
from typing import BinaryIO

from service.ingest.decoding.arrow.flat_tables import FlatTable
from service.ingest.decoding.streams.read_bounds import Room

_MARKER = b"\xff\xff\xff\xff"
_VERSION, _KIND, _HEADER, _BODY_LENGTH, _CUSTOM = range(5)
_DICTIONARY_BATCH, _RECORD_BATCH = 2, 3
_BUFFERS, _COMPRESSION = 2, 3
_ID, _DATA, _IS_DELTA = range(3)
_V4 = 3
_UNCOMPRESSED = -1


class ArrowMessages(io.RawIOBase):
    """A stream that passes the bytes of an Arrow stream on unchanged.

    Buffers of a batch may be compressed, each by itself, and several buffers may share the same bytes. The
    size that counts is the sum of all buffers as they are in memory. Dictionaries count as long as they are
    kept.

    Raises, while it is read:
        IngestInvalid: a message would exceed its bounds.
        OSError: it is not a stream of Arrow, or ends too early.
    """

    def __init__(self, stream: BinaryIO, room: Room) -> None:
        self._stream = stream
        self._room = room
        self._parts: deque[bytes] = deque()
        self._dictionaries: dict[int, int] = {}
        self._has_ended = False

    def readable(self) -> bool:
        """Returns True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Returns as many bytes as requested, or fewer where a message ends before."""
        if not self._parts and not self._has_ended:
            self._parts.extend(self._next_message())
        found = self._parts.popleft() if self._parts else b""
        while 0 <= len(found) < size and self._parts:
            found += self._parts.popleft()
        if 0 <= size < len(found):
            self._parts.appendleft(found[size:])
            found = found[:size]
        return found

    def check_ended(self) -> None:
        """Raises OSError if the stream has no end mark: a stream cut between two batches looks complete."""
        if not self._has_ended:
            raise OSError("the stream has no end")

    def _next_message(self) -> Iterable[bytes]:
        head = self._stream.read(8)
        if len(head) < 8:
            raise OSError("the stream has no end")
        if head[:4] != _MARKER:
            raise OSError("it is not an Arrow stream, or an Arrow before 0.15 wrote it")
        length = int.from_bytes(head[4:], "little", signed=True)
        if length == 0:
            self._has_ended = True
            if self._stream.read(1):
                raise OSError("there is something behind its end")
            return (head,)
        self._room.check_batch(length, "A message of the stream")
        metadata = self._exactly(length)
        try:
            parts = (head, metadata, self._body(FlatTable.root(metadata)))
            # An empty part would be read as the end of the stream.
            return [part for part in parts if part]
        except struct.error as error:
            raise OSError(f"a message cannot be read: {error}") from None

    def _body(self, message: FlatTable) -> bytes:
        length = message.integer(_BODY_LENGTH, "<q")
        self._room.check_batch(length, "A record batch")
        body = self._exactly(length)
        header, kind = message.table(_HEADER), message.integer(_KIND, "<B")
        if header is None or kind not in (_DICTIONARY_BATCH, _RECORD_BATCH):
            return body
        if message.integer(_VERSION, "<h") <= _V4 and message.has(_CUSTOM):
            # Before version 1.0, the custom metadata said whether buffers are compressed.
            raise OSError("it was written by Arrow before version 1.0")
        if kind == _RECORD_BATCH:
            self._check(_unfolded_bytes(header, body))
        else:
            self._add_dictionary(header, body)
        return body

    def _add_dictionary(self, dictionary: FlatTable, body: bytes) -> None:
        data, number = dictionary.table(_DATA), dictionary.integer(_ID, "<q")
        byte_count = 0 if data is None else _unfolded_bytes(data, body)
        self._room.take(byte_count)
        before = self._dictionaries.get(number, 0) if dictionary.integer(_IS_DELTA, "<B") else 0
        self._dictionaries[number] = before + byte_count
        self._check(0)

    def _check(self, byte_count: int) -> None:
        self._room.check_batch(
            byte_count + sum(self._dictionaries.values()), "A record batch with its dictionaries"
        )

    def _exactly(self, length: int) -> bytes:
        found = self._stream.read(length) if length > 0 else b""
        if len(found) != length:
            raise OSError("the stream ends too early")
        return found


def _unfolded_bytes(batch: FlatTable, body: bytes) -> int:
    buffers = batch.structs(_BUFFERS, "<qq")
    if not batch.has(_COMPRESSION):
        return sum(max(length, 0) for _, length in buffers)
    return sum(_decompressed_bytes(body, offset, length) for offset, length in buffers)


def _decompressed_bytes(body: bytes, offset: int, length: int) -> int:
    if length <= 0:
        return 0
    if offset < 0:
        raise OSError("a buffer lies before the beginning")
    announced = int.from_bytes(body[offset : offset + 8], "little", signed=True)
    return length if announced == _UNCOMPRESSED else max(announced, 0)
