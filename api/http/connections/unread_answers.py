"""Bounds the answers in memory that clients do not read."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress

from api.http.connections.bounds import ConnectionBounds

_AT_ONCE = struct.pack("ii", 1, 0)


def reset(transport: asyncio.Transport) -> None:
    """Resets a connection, and discards what the kernel still holds for its client."""
    with suppress(OSError):
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)
    transport.abort()


class UnreadAnswers:
    """All connections whose clients read too slowly. Methods must be called on the event loop's thread."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._transports: dict[asyncio.Transport, None] = {}

    def add(self, transport: asyncio.Transport) -> None:
        """Adds a connection. If all together hold too many bytes, those added first are aborted."""
        self._transports[transport] = None
        buffered = {transport: transport.get_write_buffer_size() for transport in self._transports}
        total = sum(buffered.values())
        for oldest, byte_count in buffered.items():
            if total <= self._max_bytes or oldest is transport:
                return
            total -= byte_count
            self.discard(oldest)
            reset(oldest)

    def discard(self, transport: asyncio.Transport) -> None:
        """Removes a connection whose client has caught up, or is gone."""
        self._transports.pop(transport, None)


class UnreadAnswer:
    """One connection's answer. Aborts the connection if its client reads too slowly."""

    def __init__(
        self,
        transport: asyncio.Transport,
        bounds: ConnectionBounds,
        all_unread: UnreadAnswers,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._transport = transport
        self._interval_s = bounds.unread_timeout_s
        self._least_bytes = max(1, int(bounds.min_bytes_per_s * bounds.unread_timeout_s))
        self._all = all_unread
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """Begins to watch: the client reads slower than it is sent data."""
        self._all.add(self._transport)
        self._look_again()

    def end(self) -> None:
        """Ends the watch: the client has read nearly everything, or is gone."""
        self._all.discard(self._transport)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look_again(self) -> None:
        # Nothing is written while so much is unread, so the buffer shrinks only by what the client reads.
        buffered = self._transport.get_write_buffer_size()
        self._timer = self._loop.call_later(self._interval_s, self._look, buffered)

    def _look(self, buffered_before: int) -> None:
        buffered = self._transport.get_write_buffer_size()
        if buffered_before - buffered < self._least_bytes:
            self.end()
            reset(self._transport)
        else:
            self._look_again()
