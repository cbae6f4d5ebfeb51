"""Closes a connection so that its client can read the answer first."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress

LINGER_S = 5.0
"""How long what a client goes on sending is thrown away.

A socket that is closed with something unread in it is reset, and the answer may be lost with it.
"""


class LingeringTransport:
    """A transport as uvicorn's cycle of a request uses it, whose `close` is the protocol's own."""

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
        """Whether all that comes now is thrown away."""
        return self._timer is not None

    def begin(self) -> None:
        """Sends what is written and an end; the client's own end closes the connection, or the time does."""
        if self.has_begun or self._transport.is_closing():
            return
        self._timer = self._loop.call_later(LINGER_S, self._transport.abort)
        with suppress(OSError, RuntimeError, NotImplementedError):
            self._transport.write_eof()

    def end(self) -> None:
        """The connection is lost."""
        if self._timer is not None:
            self._timer.cancel()
