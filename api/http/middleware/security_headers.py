"""Tells browsers what they must not do with answers."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

DOCS = "/docs"
_STATIC = "/swagger/"
_NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
_DOCS_MAY = (
    "; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data:;"
    " connect-src 'self'"
)
_OF_ALL = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_POLICY = (b"content-security-policy", _NOTHING.encode())
_NOT_STORED = (b"cache-control", b"no-store")
_ONLY_TLS = (b"strict-transport-security", b"max-age=31536000")
_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)


class SecurityHeaders:
    """ASGI middleware: adds headers to each answer, unless its route has set them.

    Answers are data, and may run, load and frame nothing. The page `/docs` may run its own scripts: those of
    this server, and those in the page, by their hashes. With `has_tls`, browsers use only HTTPS from then on.
    """

    def __init__(self, app: ASGIApp, *, has_tls: bool) -> None:
        self._app = app
        self._of_all = (*_OF_ALL, _ONLY_TLS) if has_tls else _OF_ALL

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        added = self._of_all if path.startswith(_STATIC) else (*self._of_all, _NOT_STORED)
        held: list[Message] = []

        async def adding(message: Message) -> None:
            if message["type"] == "http.response.start":
                if path == DOCS:
                    # Its policy depends on its body, which comes in one piece.
                    held.append(message)
                    return
                _add(message, (*added, _POLICY))
            elif held:
                start = held.pop()
                _add(start, (*added, (_POLICY[0], docs_policy(message.get("body", b"")))))
                await send(start)
            await send(message)

        await self._app(scope, receive, adding)


def docs_policy(page: bytes) -> bytes:
    """Returns the policy for a page with scripts of its own.

    >>> docs_policy(b"<script>1</script>").decode().split("; ")[4]
    "script-src 'self' 'sha256-a4ayc/80/OGda4BO/1o/V0etpOqiLx1JwB5S3beHW0s='"
    """
    hashes = (base64.b64encode(hashlib.sha256(script).digest()).decode() for script in _SCRIPT.findall(page))
    scripts = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"{_NOTHING}{_DOCS_MAY.format(scripts=scripts)}".encode()


def _add(start: Message, headers: Sequence[tuple[bytes, bytes]]) -> None:
    present = {name.lower() for name, _ in start.get("headers", ())}
    start["headers"] = [
        *start.get("headers", ()),
        *((name, value) for name, value in headers if name not in present),
    ]
