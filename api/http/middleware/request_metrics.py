"""Counts every request, whatever its outcome."""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.middleware.http_metrics import HttpMetrics


class RequestMetrics:
    """ASGI middleware, the outermost: requests that inner layers reject count, too."""

    def __init__(self, app: ASGIApp, http: HttpMetrics) -> None:
        self._app = app
        self._http = http

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status: int | None = None

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        started_s = time.perf_counter()
        self._http.begun()
        try:
            await self._app(scope, receive, noting)
        finally:
            self._http.ended(scope, status, time.perf_counter() - started_s)
