"""Writes answers to clients that may read slowly, or not at all."""

from __future__ import annotations

import asyncio
from typing import cast

from api.http.connections.unread_answers import UnreadAnswers, reset


class Answers:
    """Writes within bounds: of the bytes that all clients have not read, and of the time of each.

    Its methods must be called on the event loop's thread.
    """

    def __init__(self, unread: UnreadAnswers, interval_s: float, min_bytes_per_s: float) -> None:
        self._unread = unread
        self._interval_s = interval_s
        self._least_bytes = max(1, int(min_bytes_per_s * interval_s))

    async def write(self, writer: asyncio.StreamWriter, data: bytes) -> None:
        """Writes an answer, and returns when nearly all of it is on its way.

        Raises:
            ConnectionError: the client is gone, or reads too slowly. Then its connection is reset.
        """
        writer.write(data)
        transport = transport_of(writer)
        self._unread.add(transport)
        try:
            while not await self._is_drained(writer):
                pass
        finally:
            self._unread.discard(transport)

    async def _is_drained(self, writer: asyncio.StreamWriter) -> bool:
        before = writer.transport.get_write_buffer_size()
        try:
            async with asyncio.timeout(self._interval_s):
                await writer.drain()
        except TimeoutError:
            if before - writer.transport.get_write_buffer_size() < self._least_bytes:
                reset(transport_of(writer))
                raise ConnectionResetError("the client reads too slowly") from None
            return False
        return True


def transport_of(writer: asyncio.StreamWriter) -> asyncio.Transport:
    """Returns the transport of a connection, which can be read and written."""
    return cast("asyncio.Transport", writer.transport)
