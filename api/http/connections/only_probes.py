"""The app of connections beyond the bounds."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.problems.http_errors import TooManyConnections
from api.http.problems.problems import problem_response

PROBES = frozenset({"/healthz", "/livez", "/readyz"})


class OnlyProbes:
    """ASGI app: answers probes as the given app does, and all else with a 503."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        await problem_response(TooManyConnections(), scope["path"])(scope, receive, send)
