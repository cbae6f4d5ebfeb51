"""A proxy with nginx's rule: a request is passed to the other gateway only if it was not sent yet."""

from __future__ import annotations

import asyncio
import hashlib
import re
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

CONNECT_WITHIN_S = 2.0
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
CALLER = re.compile(rb"\r\nauthorization: *([^\r]*)", re.IGNORECASE)
CONNECTION = re.compile(rb"\r\nconnection:[^\r]*", re.IGNORECASE)
BAD_GATEWAY = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Request:
    """A request as received, without its `Connection` header."""

    head: bytes
    body: bytes

    @property
    def order(self) -> int:
        """The index of the gateway that its caller stays with."""
        caller = CALLER.search(self.head)
        return hashlib.sha256(caller.group(1) if caller else b"").digest()[0] % 2

    @property
    def asks_other_for(self) -> frozenset[bytes]:
        """The statuses after which the other gateway is asked, as in deploy/compose/nginx.conf."""
        path = self.head.split(b" ", 2)[1].split(b"?")[0]
        if path in (b"/query", b"/explain", b"/readyz"):
            return frozenset({b"503"})
        if path.startswith((b"/query/", b"/explain/")):
            return frozenset({b"404", b"410", b"503"})
        return frozenset()


class Proxy:
    """Opens one connection to a gateway for each request."""

    def __init__(self, gateways: Sequence[int]) -> None:
        self._gateways = gateways

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answers the requests of a client, one after the other."""
        try:
            with suppress(OSError, asyncio.IncompleteReadError):
                while True:
                    writer.write(await self._answer(await _request(reader)))
                    await writer.drain()
        finally:
            writer.close()

    async def _answer(self, request: Request) -> bytes:
        first = self._gateways[request.order]
        other = self._gateways[1 - request.order]
        answer = await self._ask(request, (first, other))
        if answer.split(b" ", 2)[1] in request.asks_other_for:
            answer = await self._ask(request, (other,))
        return answer

    async def _ask(self, request: Request, gateways: Sequence[int]) -> bytes:
        for port in gateways:
            try:
                connecting = asyncio.open_connection("127.0.0.1", port)
                reader, writer = await asyncio.wait_for(connecting, CONNECT_WITHIN_S)
            except (OSError, TimeoutError):
                continue
            try:
                writer.write(request.head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1) + request.body)
                answer = await reader.read(-1)
            except OSError:
                answer = b""
            finally:
                writer.close()
            # It was sent, so no other gateway gets it.
            return CONNECTION.sub(b"", answer, count=1) or BAD_GATEWAY
        return BAD_GATEWAY


async def _request(reader: asyncio.StreamReader) -> Request:
    head = await reader.readuntil(b"\r\n\r\n")
    length = LENGTH.search(head)
    body = await reader.readexactly(int(length.group(1))) if length else b""
    return Request(CONNECTION.sub(b"", head), body)


async def _end(tasks: Collection[asyncio.Task[object]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0.1)


@contextmanager
def proxy(port: int, gateways: Sequence[int]) -> Iterator[None]:
    """Serves at this port, in a thread."""
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(Proxy(gateways).serve, "127.0.0.1", port))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(_end(asyncio.all_tasks(loop)))
        loop.close()
