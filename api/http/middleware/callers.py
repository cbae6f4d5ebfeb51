"""Identifies callers by bearer tokens. The gateway knows only their SHA-256."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from contextvars import ContextVar

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.http.problems.errors import Unauthenticated
from api.http.problems.problems import problem_response

ANONYMOUS = "anonymous"
calling: ContextVar[str] = ContextVar("calling", default=ANONYMOUS)
"""The caller whose request this task serves."""
OPEN_PATHS = frozenset(
    {
        "/healthz",
        "/livez",
        "/readyz",
        "/docs",
        "/openapi.json",
        "/swagger/swagger-ui-bundle.js",
        "/swagger/swagger-ui.css",
        "/swagger/favicon-32x32.png",
    }
)
"""Paths that probes and browsers have to reach without a token."""


class Callers:
    """Finds callers by their tokens."""

    def __init__(self, tokens: Mapping[str, str]) -> None:
        """Takes caller → SHA-256 (hex) of its token. Without any, every caller is `anonymous`."""
        self._tokens = dict(tokens)

    def name(self, authorization: str | None) -> str:
        """Returns the caller who sent this header.

        Raises:
            Unauthenticated: tokens are required, and this is not one of them.
        """
        if not self._tokens:
            return ANONYMOUS
        scheme, _, token = (authorization or "").partition(" ")
        sent = hashlib.sha256(token.strip().encode()).hexdigest()
        # All tokens are compared, each in constant time, so that the time taken reveals nothing.
        found = [name for name, known in self._tokens.items() if hmac.compare_digest(known, sent)]
        if scheme.lower() != "bearer" or not found:
            raise Unauthenticated
        return found[0]


class Authentication:
    """ASGI middleware: admits known callers, and puts `caller` into the request's state."""

    def __init__(self, app: ASGIApp, callers: Callers) -> None:
        self._app = app
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "http" and scope["path"] not in OPEN_PATHS:
            try:
                caller = self._callers.name(Headers(scope=scope).get("Authorization"))
            except Unauthenticated as error:
                await problem_response(error, scope["path"])(scope, receive, send)
                return
            scope.setdefault("state", {})["caller"] = caller
            calling.set(caller)
        await self._app(scope, receive, send)
