"""Rejects bodies that are too large before they are in memory."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.bodies.record_types import record_format
from api.http.problems.http_errors import BodyTooLarge
from api.http.problems.problems import problem_response


class BodyLimit:
    """ASGI middleware: 413, at once for an announced length, else as soon as the body is longer.

    Bodies that are records alone are not held in memory, and have a limit of their own.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, max_records_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._max_records_bytes = max_records_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        max_bytes = self._max_bytes if record_format(scope) is None else self._max_records_bytes
        announced = Headers(scope=scope).get("Content-Length", "0")
        if announced.isdecimal() and int(announced) > max_bytes:
            error = BodyTooLarge(f"The body is larger than {max_bytes} bytes.")
            await problem_response(error, scope["path"])(scope, receive, send)
            return
        await self._app(scope, _counted(receive, max_bytes), send)


def _counted(receive: Receive, max_bytes: int) -> Receive:
    received = 0

    async def counted() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > max_bytes:
            # The only exception that FastAPI passes on while it reads a body.
            raise HTTPException(413)
        return message

    return counted
