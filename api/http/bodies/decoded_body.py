"""Decompresses bodies that are held in memory anyway."""

from __future__ import annotations

import io

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.bodies.record_types import compression, record_format
from api.http.problems.http_errors import UnsupportedMediaType
from api.http.problems.problems import problem_response
from service.errors.ingest_errors import IngestInvalid
from service.ingest.decoding.streams.decompressed import decompressed
from service.model.ingest.record_formats import Compression


class DecodedBody:
    """ASGI middleware: decodes `Content-Encoding` gzip and zstd, except for bodies that are records alone.

    The decompressed body has the same bound as an uncompressed one. Other encodings are a 415.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http" or record_format(scope) is not None:
            await self._app(scope, receive, send)
            return
        try:
            kind = compression(scope)
        except UnsupportedMediaType as error:
            await problem_response(error, scope["path"])(scope, receive, send)
            return
        decoded = receive if kind is Compression.NONE else _Decoded(receive, kind, self._max_bytes).receive
        await self._app(scope, decoded, send)


class _Decoded:
    def __init__(self, receive: Receive, kind: Compression, max_bytes: int) -> None:
        self._receive = receive
        self._kind = kind
        self._max_bytes = max_bytes
        self._is_read = False

    async def receive(self) -> Message:
        if self._is_read:
            return await self._receive()
        self._is_read = True
        compressed = io.BytesIO()
        while True:
            message = await self._receive()
            if message["type"] != "http.request":
                return message
            compressed.write(message.get("body", b""))
            if not message.get("more_body", False):
                return {"type": "http.request", "body": self._decompressed(compressed), "more_body": False}

    def _decompressed(self, compressed: io.BytesIO) -> bytes:
        compressed.seek(0)
        try:
            found = decompressed(compressed, self._kind, self._max_bytes + 1).read(self._max_bytes + 1)
        except IngestInvalid as error:
            raise HTTPException(400, error.detail) from None
        if len(found) > self._max_bytes:
            raise HTTPException(413)
        return found
