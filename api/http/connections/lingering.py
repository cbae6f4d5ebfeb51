"""Closes a connection in such a way that its client can read the answer first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

LINGER_S = 5.0
"""How long the gateway discards what a client still sends.

Closing a socket with unread input resets it, and the answer may be lost.
"""


class LingeringTransport:
    """A transport for uvicorn's request cycle, whose `close` is the protocol's own."""

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self._transport = transport
        self.write = transport.write
        self.is_closing = transport.is_closing
        self.close = close


class Lingering:
    """The last seconds of a connection."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._timer: asyncio.TimerHandle | None = None

    @property
    def has_begun(self) -> bool:
        """Whether all input is discarded now."""
        return self._timer is not None

    def begin(self) -> None:
        """Sends the pending output and an end. The client's end or the timer then closes the connection."""
        if self.has_begun or self._transport.is_closing():
            return
        self._timer = self._loop.call_later(LINGER_S, self._transport.abort)
        if not self._transport.can_write_eof():
            # TLS closes both directions at once, after all written bytes have been sent.
            self._transport.close()
            return
        with suppress(OSError, RuntimeError, NotImplementedError):
            self._transport.write_eof()

    def end(self) -> None:
        """Stops the timer: the connection is lost."""
        if self._timer is not None:
            self._timer.cancel()
