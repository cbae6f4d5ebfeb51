"""How much of what is to be written is here at once."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.bodies.record_types import record_format
from api.problems import problem_response
from service.errors import TooManyIngests


class BytesInFlight:
    """ASGI middleware: 429 for ingests whose bodies would be more than the bounds allow, with all others.

    Bodies of records lie on the disk, others in memory; each kind has a bound. A body counts from its first
    byte until it is answered; one whose length is announced counts as a whole, so that it is refused before
    it is sent. Belongs to the event loop's thread.
    """

    def __init__(self, app: ASGIApp, max_bytes: int, max_records_bytes: int) -> None:
        self._app = app
        self._held = _Account(max_bytes)
        self._spooled = _Account(max_records_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or (scope["method"], scope["path"]) != ("POST", "/ingest"):
            await self._app(scope, receive, send)
            return
        entry = _Entry(self._held if record_format(scope) is None else self._spooled, receive)
        announced = Headers(scope=scope).get("Content-Length", "0")
        try:
            if not entry.reserve(int(announced) if announced.isdecimal() else 0):
                await problem_response(TooManyIngests(), scope["path"])(scope, receive, send)
                return
            await self._app(scope, entry.receive, send)
        finally:
            entry.release()


class _Account:
    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.taken_bytes = 0


class _Entry:
    """What one request has taken of an account."""

    def __init__(self, account: _Account, receive: Receive) -> None:
        self._account = account
        self._receive = receive
        self._reserved_bytes = 0
        self._received_bytes = 0

    def reserve(self, byte_count: int) -> bool:
        more = max(0, byte_count - self._reserved_bytes)
        if self._account.taken_bytes + more > self._account.max_bytes:
            return False
        self._account.taken_bytes += more
        self._reserved_bytes += more
        return True

    def release(self) -> None:
        self._account.taken_bytes -= self._reserved_bytes
        self._reserved_bytes = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._received_bytes += len(message.get("body", b""))
        if not self.reserve(self._received_bytes):
            # As for a body that is too large: the one exception that FastAPI lets through.
            raise HTTPException(429)
        return message
