"""How long a body may take on its way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyPace:
    """ASGI middleware: 408 for a body that stops, or crawls, so that the room kept for it is given back.

    Between two parts of it `idle_s` may pass at most; all the waiting together may take that long, and a
    second more for each `min_bytes_per_s` that have come (0: as long as it likes). Only waiting for the
    client counts, not what the gateway does with a part. Belongs outside of all that counts bytes.
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
            # From now on it waits for the client to hang up, which may take as long as the answer.
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
    # As for a body that is too large: the one exception that FastAPI lets through.
    return HTTPException(408)
