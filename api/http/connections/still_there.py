"""Drops requests whose clients hang up before they begin."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

_TAKEN_ANYWAY = "/ingest"
"""Clients that send records may leave without waiting for the answer."""


class IfStillThere:
    """ASGI app: begins a request only if its client is still connected.

    Otherwise, clients that send a query and close at once would cost as much as clients that wait.

    Args:
        app: serves the request.
        is_gone: whether the connection has been closed.
    """

    def __init__(self, app: ASGIApp, is_gone: Callable[[], bool]) -> None:
        self._app = app
        self._is_gone = is_gone

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request, or does nothing."""
        if scope["path"] != _TAKEN_ANYWAY:
            # Lets the event loop notice the end of a connection that came with the request.
            await asyncio.sleep(0)
            if self._is_gone():
                return
        await self._app(scope, receive, send)
