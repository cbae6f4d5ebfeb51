"""Requests whose clients hang up before they begin."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

_TAKEN_ANYWAY = "/ingest"
"""Who sends records may leave without an answer."""


class IfStillThere:
    """ASGI app: begins a request if its client is still there to be answered.

    A flood of clients that send a query and close would else cost as much as one of clients that wait.

    Args:
        app: serves the request.
        is_gone: whether the connection has been closed.
    """

    def __init__(self, app: ASGIApp, is_gone: Callable[[], bool]) -> None:
        self._app = app
        self._is_gone = is_gone

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or nothing at all."""
        if scope["path"] != _TAKEN_ANYWAY:
            # The end of a connection that came with the request is noticed in the meantime.
            await asyncio.sleep(0)
            if self._is_gone():
                return
        await self._app(scope, receive, send)
