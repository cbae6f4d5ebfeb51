"""The server, and the order in which it stops."""

from __future__ import annotations

import asyncio
import math
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import FrameType

import structlog
import uvicorn

from api.http.door import Door

ANSWERING_S = 5
"""What is left, after the gateway's bound, to answer those who waited for queries and commits."""
LAST_REQUESTS_S = 0.3
"""How long those are served still who had connected before the address was closed, and said nothing yet."""
TICK_S = 0.1

_log = structlog.stdlib.get_logger("api.stop")


class Server(uvicorn.Server):
    """Stops step by step, so that nobody who asks another gateway in time meets a failure.

    1. After SIGTERM, `/readyz` says no and every answer closes its connection; all is served, for `delay_s`.
    2. No query is taken any more. Those that there are end, and their results are read, for `timeout_s`.
    3. Nobody can connect any more. Whoever had is answered; then the gateway closes what is left.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        door: Door,
        delay_s: float,
        timeout_s: float,
        on_stopping: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self.on_started: Callable[[], None] = lambda: None
        self._door = door
        self._delay_s = delay_s
        self._timeout_s = timeout_s
        self._on_stopping = on_stopping
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_delayed = False
        self._is_stopping = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """SIGINT, and any second signal, stop without the delay."""
        self._is_delayed = sig == signal.SIGTERM and not self.should_exit
        super().handle_exit(sig, frame)
        if self._loop is not None:
            # At once, for a start that still waits; and not in here, where any lock may be held.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._begin_stop)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listens, once the app lets it."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Goes through the steps of a stop, each within its bound."""
        self._begin_stop()
        self._door.leave()
        self._close_connections_with_their_answers()
        now_s = asyncio.get_running_loop().time
        leaves_s = now_s() + self._delay_s
        if self._door.has_opened and self._is_delayed:
            _log.info("stopping", step="Serving on, not ready any more", seconds=self._delay_s)
            await self._serve_until(lambda: now_s() >= leaves_s or not self._is_delayed)
        _log.info("stopping", step="Waiting for queries and the reading of results", seconds=self._timeout_s)
        self._door.begin_drain()
        ends_s = now_s() + self._timeout_s
        await self._serve_until(lambda: now_s() >= ends_s or self.force_exit or self._door.is_drained())
        left_s = max(0.0, ends_s - now_s())
        _log.info("stopping", step="Closing the address, then the parts", seconds=round(left_s, 1))
        await self._stop_listening(sockets or [])
        await asyncio.sleep(LAST_REQUESTS_S)
        self._door.begin_close(left_s)
        self.config.timeout_graceful_shutdown = math.ceil(left_s) + ANSWERING_S
        await super().shutdown(sockets)

    def _begin_stop(self) -> None:
        if not self._is_stopping:
            self._is_stopping = True
            self._on_stopping()

    def _close_connections_with_their_answers(self) -> None:
        """An idle one is left alone: its client may send a request at this very moment."""
        closing = (b"connection", b"close")
        self.config.encoded_headers.append(closing)
        self.server_state.default_headers = [*self.server_state.default_headers, closing]
        for each in self.server_state.connections:
            cycle = getattr(each, "cycle", None)
            if cycle is not None:
                cycle.keep_alive = False

    async def _serve_until(self, is_over: Callable[[], bool]) -> None:
        ticks = 0
        while not is_over():
            await asyncio.sleep(TICK_S)
            ticks += 1
            # Keeps the header Date right.
            await self.on_tick(ticks)

    async def _stop_listening(self, sockets: Sequence[socket.socket]) -> None:
        """Closes the address without a loss: the kernel resets whoever has connected and was not met yet."""
        last = [connection for each in sockets for connection in met_last(each)]
        for each in self.servers:
            each.close()
        loop = asyncio.get_running_loop()
        for connection in last:
            await loop.connect_accepted_socket(self._protocol, connection)

    def _protocol(self) -> asyncio.Protocol:
        protocol: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol


def met_last(listening: socket.socket) -> Iterator[socket.socket]:
    """Those who have connected and were not accepted yet; the next ones are refused from then on."""
    listening.setblocking(False)
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            connection.setblocking(False)
            yield connection
    with suppress(OSError):
        listening.shutdown(socket.SHUT_RDWR)
