"""Bounds the time that a body may take to arrive."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyPace:
    """ASGI middleware: 408 for a body that stops or is too slow, so that its memory is released.

    At most `idle_s` may pass between two parts. All waits together may take `idle_s`, and one second more for
    each `min_bytes_per_s` bytes received (0: no bound on the sum). Only waiting for the client counts, not
    the gateway's own work. Belongs outside of all middleware that counts bytes.
    """

    def __init__(
        self,
        app: ASGIApp,
        idle_s: float,
        min_bytes_per_s: int,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._idle_s = idle_s
        self._min_bytes_per_s = min_bytes_per_s
        self._now_s = now_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        paced = _Paced(receive, self._idle_s, self._min_bytes_per_s, self._now_s)
        await self._app(scope, paced.receive, send)


class _Paced:
    """The body of one request."""

    def __init__(
        self, receive: Receive, idle_s: float, min_bytes_per_s: int, now_s: Callable[[], float]
    ) -> None:
        self._receive = receive
        self._idle_s = idle_s
        self._min_bytes_per_s = min_bytes_per_s
        self._now_s = now_s
        self._waited_s = 0.0
        self._received_bytes = 0
        self._is_read = False

    async def receive(self) -> Message:
        if self._is_read:
            # From now on the app waits for the client to hang up, which may take as long as the answer.
            return await self._receive()
        began_s, allowed_s = self._now_s(), self._allowed_s()
        if allowed_s <= 0:
            raise _too_slow()
        try:
            async with asyncio.timeout(allowed_s):
                message = await self._receive()
        except TimeoutError:
            raise _too_slow() from None
        self._waited_s += self._now_s() - began_s
        self._received_bytes += len(message.get("body", b""))
        self._is_read = not message.get("more_body", False)
        return message

    def _allowed_s(self) -> float:
        if not self._min_bytes_per_s:
            return self._idle_s
        earned_s = self._received_bytes / self._min_bytes_per_s
        return min(self._idle_s, self._idle_s + earned_s - self._waited_s)


def _too_slow() -> HTTPException:
    # As for a body that is too large: the only exception that FastAPI passes on.
    return HTTPException(408)
