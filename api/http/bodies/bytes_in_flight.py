"""Bounds the bytes of all bodies that are in progress at once."""

from __future__ import annotations

from collections import Counter

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.bodies.record_types import record_format
from api.http.middleware.request_caller import ANONYMOUS
from api.http.middleware.request_log import caller_in
from api.http.problems.http_errors import TooManyBodies
from api.http.problems.problems import problem_response
from service.errors.gateway_error import GatewayError
from service.errors.ingest_errors import TooManyIngests

_INGEST = "/ingest"


class BodyAccount:
    """The bytes of all bodies of one kind. Its methods must be called on the event loop's thread.

    One caller may take a share of them, so that the rest is left for others.
    """

    def __init__(self, max_bytes: int, max_bytes_per_caller: int) -> None:
        self._max_bytes = max_bytes
        self._max_bytes_per_caller = max_bytes_per_caller
        self._taken_bytes = 0
        self._taken_by: Counter[str] = Counter()

    def has_room(self, caller: str, byte_count: int) -> bool:
        """Whether so many more bytes fit now."""
        of_caller = self._taken_by[caller] + byte_count
        return of_caller <= self._max_bytes_per_caller and self._taken_bytes + byte_count <= self._max_bytes

    def take(self, caller: str, byte_count: int) -> None:
        """Counts bytes that have arrived."""
        self._taken_bytes += byte_count
        self._taken_by[caller] += byte_count

    def give_back(self, caller: str, byte_count: int) -> None:
        """Counts bytes that were released."""
        self._taken_bytes -= byte_count
        self._taken_by[caller] -= byte_count
        if not self._taken_by[caller]:
            del self._taken_by[caller]


class BytesInFlight:
    """ASGI middleware: 429 for bodies that would exceed the bounds together with all others.

    Bodies of records are on disk, others in memory; each kind has an account. Bytes count from their arrival
    until the answer. Announced bytes take nothing from others, but are rejected at once if there is no room
    for them. Around `DecodedBody` this middleware counts the bytes sent; within it, the bytes after
    decompression.
    """

    def __init__(
        self, app: ASGIApp, in_memory: BodyAccount, spooled: BodyAccount, is_within_decoding: bool = False
    ) -> None:
        self._app = app
        self._in_memory = in_memory
        self._spooled = spooled
        self._is_within_decoding = is_within_decoding

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or (self._is_within_decoding and not _is_decoded(scope)):
            await self._app(scope, receive, send)
            return
        account = self._in_memory if record_format(scope) is None else self._spooled
        entry = _Entry(account, caller_in(scope) or ANONYMOUS, receive)
        announced = Headers(scope=scope).get("Content-Length", "0")
        if not account.has_room(entry.caller, int(announced) if announced.isdecimal() else 0):
            await problem_response(_too_many(scope["path"]), scope["path"])(scope, receive, send)
            return
        try:
            await self._app(scope, entry.receive, send)
        finally:
            account.give_back(entry.caller, entry.taken_bytes)


def _is_decoded(scope: Scope) -> bool:
    is_encoded = Headers(scope=scope).get("Content-Encoding", "").strip().lower() not in ("", "identity")
    return is_encoded and record_format(scope) is None


def _too_many(path: str) -> GatewayError:
    return TooManyIngests() if path == _INGEST else TooManyBodies()


class _Entry:
    """The bytes that one request has taken from an account."""

    def __init__(self, account: BodyAccount, caller: str, receive: Receive) -> None:
        self.caller = caller
        self.taken_bytes = 0
        self._account = account
        self._receive = receive

    async def receive(self) -> Message:
        message = await self._receive()
        byte_count = len(message.get("body", b""))
        if byte_count and not self._account.has_room(self.caller, byte_count):
            # As for a body that is too large: the only exception that FastAPI passes on.
            raise HTTPException(429)
        self._account.take(self.caller, byte_count)
        self.taken_bytes += byte_count
        return message
