"""Where the bytes of messages come from: the connection itself, or the frames that SASL puts around them."""

from __future__ import annotations

import asyncio
import struct
from typing import Protocol

from api.hive_server.wire.scan import MessageBounds, scan_message
from api.hive_server.wire.unreadable_message import MessageFault

_FRAME = struct.Struct(">i")


class Source(Protocol):
    """Bytes of messages, in order."""

    async def read(self, count: int) -> bytes:
        """Returns exactly so many bytes.

        Raises:
            IncompleteReadError: the connection ended before.
            MessageFault: a frame is too large.
        """
        ...

    def framed(self, message: bytes) -> bytes:
        """Returns a message as the client expects it."""
        ...


class PlainSource:
    """A connection without frames. `first` are bytes that were read before."""

    def __init__(self, reader: asyncio.StreamReader, first: bytes = b"") -> None:
        self._reader = reader
        self._first = first

    async def read(self, count: int) -> bytes:
        """See `Source`."""
        if not self._first:
            return await self._reader.readexactly(count)
        taken, self._first = self._first[:count], self._first[count:]
        return taken if len(taken) == count else taken + await self._reader.readexactly(count - len(taken))

    def framed(self, message: bytes) -> bytes:
        """See `Source`."""
        return message


class FramedSource:
    """A connection with frames. A message may take several, or a part of one."""

    def __init__(self, reader: asyncio.StreamReader, max_bytes: int) -> None:
        self._reader = reader
        self._max_bytes = max_bytes
        self._frame = memoryview(b"")

    async def read(self, count: int) -> bytes:
        """See `Source`."""
        if count <= len(self._frame):
            return self._take(count)
        parts = [self._take(len(self._frame))]
        left = count - len(parts[0])
        while left:
            self._frame = memoryview(await self._next())
            part = self._take(min(left, len(self._frame)))
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def framed(self, message: bytes) -> bytes:
        """See `Source`."""
        return _FRAME.pack(len(message)) + message

    def _take(self, count: int) -> bytes:
        taken, self._frame = bytes(self._frame[:count]), self._frame[count:]
        return taken

    async def _next(self) -> bytes:
        (length,) = _FRAME.unpack(await self._reader.readexactly(_FRAME.size))
        if not 0 <= length <= self._max_bytes:
            raise MessageFault(f"a frame has more than {self._max_bytes} bytes")
        return await self._reader.readexactly(length)


async def read_message(source: Source, bounds: MessageBounds, *, idle_s: float, message_s: float) -> bytes:
    """Returns the next message.

    Raises:
        IncompleteReadError: the connection ended.
        MessageFault: it is not a message, or beyond a bound.
        TimeoutError: none began in `idle_s`, or it did not arrive in `message_s` from then on.
    """
    scan = scan_message(bounds)
    async with asyncio.timeout(idle_s):
        part = await source.read(next(scan))
    parts = [part]
    async with asyncio.timeout(message_s):
        try:
            while True:
                parts.append(part := await source.read(scan.send(part)))
        except StopIteration:
            return b"".join(parts)
