"""A TCP proxy in its own thread: it balances callers, and can slow, hold or cut connections."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import zlib
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

HOST = "127.0.0.1"
MAX_HEAD_BYTES = 65_536
PIECE_BYTES = 16_384
_CALLER = re.compile(rb"\r\nauthorization:([^\r]*)\r\n", re.IGNORECASE)


@dataclass
class Line:
    """How the proxy forwards bytes in each direction. It may be changed while connections are open."""

    delay_s: float = 0.0
    bytes_per_s: float | None = None
    is_stalled: bool = False
    """If true, connections stay open and new ones are accepted, but no bytes are forwarded."""


@dataclass
class TcpProxy:
    """Listens on `port` while its block runs; `targets` returns the ports to try for a request's head."""

    targets: Callable[[bytes], Sequence[int]]
    reads_head: bool = False
    line: Line = field(default_factory=Line)
    port: int = 0

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._open: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._run(asyncio.start_server(self._taken, HOST, self.port))
        self.port = int(self._server.sockets[0].getsockname()[1])
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def cut(self) -> None:
        """Closes all open connections."""
        self._run(self._cut())

    async def _cut(self) -> None:
        ended = [task for task in self._open if not task.done()]
        for task in ended:
            task.cancel()
        await asyncio.gather(*ended, return_exceptions=True)

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(10)

    async def _taken(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._carry(reader, writer))
        self._open.add(task)
        task.add_done_callback(self._open.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = [writer]
        try:
            head = b""
            while self.reads_head and b"\r\n\r\n" not in head and len(head) < MAX_HEAD_BYTES:
                if not (more := await reader.read(PIECE_BYTES)):
                    return
                head += more
            there, back = await self._connected(head)
            ends.append(back)
            back.write(head)
            # When one side closes, both connections are closed: only requests and answers are exchanged here.
            ways = [
                asyncio.create_task(self._pump(reader, back)),
                asyncio.create_task(self._pump(there, writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
        except OSError:
            pass
        finally:
            for end in ends:
                with contextlib.suppress(OSError):
                    end.close()

    async def _connected(self, head: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        for port in self.targets(head):
            with contextlib.suppress(OSError):
                return await asyncio.open_connection(HOST, port)
        raise ConnectionRefusedError

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await source.read(PIECE_BYTES):
                line = self.line
                while line.is_stalled:
                    await asyncio.sleep(0.05)
                pace_s = len(piece) / line.bytes_per_s if line.bytes_per_s else 0
                await asyncio.sleep(line.delay_s + pace_s)
                target.write(piece)
                await target.drain()


def by_caller(ports: Sequence[int]) -> Callable[[bytes], Sequence[int]]:
    """Sends each caller, identified by its token, to the same port; if it is down, to the next.

    >>> ports = by_caller([1, 2])(b"GET / HTTP/1.1\\r\\nAuthorization: Bearer a\\r\\n\\r\\n")
    >>> sorted(ports)
    [1, 2]
    """

    def targets(head: bytes) -> Sequence[int]:
        caller = _CALLER.search(head)
        first = zlib.crc32(caller[1] if caller else b"") % len(ports)
        return [*ports[first:], *ports[:first]]

    return targets
