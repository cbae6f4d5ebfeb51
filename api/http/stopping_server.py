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

from api.http.connections.handshakes import TlsServer
from api.http.gateway_access import GatewayAccess

ANSWERING_S = 5
"""Time after the gateway's bound, to answer clients that waited for queries and commits."""
LAST_REQUESTS_S = 0.3
"""How long clients are still served that connected before the address closed, and have sent nothing yet."""
TICK_S = 0.1

_log = structlog.stdlib.get_logger("api.stop")


class Server(uvicorn.Server):
    """Stops step by step, so that clients who go to another gateway in time see no failure.

    1. After SIGTERM, `/readyz` answers 503 and every answer closes its connection. All requests are served,
    for `delay_s`.
    2. New queries are rejected. Running queries end, and their results can be read, for `timeout_s`.
    3. The address is closed. Requests on open connections are answered; then the gateway closes what is left.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        access: GatewayAccess,
        delay_s: float,
        timeout_s: float,
        on_stopping: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(config)
        self.on_started: Callable[[], None] = lambda: None
        self._access = access
        self._delay_s = delay_s
        self._timeout_s = timeout_s
        self._on_stopping = on_stopping
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_delayed = False
        self._is_stopping = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stops the server. SIGINT, and any second signal, skip the delay."""
        self._is_delayed = sig == signal.SIGTERM and not self.should_exit
        super().handle_exit(sig, frame)
        if self._loop is not None:
            # Outside of the handler, in which any lock may be held; and at once, even while the start waits.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._begin_stop)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listens, as soon as the app allows it."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        self.on_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Runs the steps of the stop, each within its bound."""
        self._begin_stop()
        self._access.leave()
        self._close_connections_with_their_answers()
        now_s = asyncio.get_running_loop().time
        leaves_s = now_s() + self._delay_s
        if self._access.has_opened and self._is_delayed:
            _log.info("stopping", step="Still serving, but no longer ready", seconds=self._delay_s)
            await self._serve_until(lambda: now_s() >= leaves_s or not self._is_delayed)
        _log.info("stopping", step="Waiting for queries and for results to be read", seconds=self._timeout_s)
        self._access.begin_drain()
        ends_s = now_s() + self._timeout_s
        await self._serve_until(lambda: now_s() >= ends_s or self.force_exit or self._access.is_drained())
        left_s = max(0.0, ends_s - now_s())
        _log.info("stopping", step="Closing the address, then the gateway's parts", seconds=round(left_s, 1))
        await self._stop_listening(sockets or [])
        await asyncio.sleep(LAST_REQUESTS_S)
        self._access.begin_close(left_s)
        self.config.timeout_graceful_shutdown = math.ceil(left_s) + ANSWERING_S
        await super().shutdown(sockets)

    def _begin_stop(self) -> None:
        if not self._is_stopping:
            self._is_stopping = True
            self._on_stopping()

    def _close_connections_with_their_answers(self) -> None:
        """Leaves idle connections alone: their clients may be sending a request at this moment."""
        closing = (b"connection", b"close")
        self.config.encoded_headers.append(closing)
        self.server_state.default_headers = [*self.server_state.default_headers, closing]
        for connection in self.server_state.connections:
            cycle = getattr(connection, "cycle", None)
            if cycle is not None:
                cycle.keep_alive = False

    async def _serve_until(self, is_over: Callable[[], bool]) -> None:
        ticks = 0
        while not is_over():
            await asyncio.sleep(TICK_S)
            ticks += 1
            # Keeps the header Date current.
            await self.on_tick(ticks)

    async def _stop_listening(self, sockets: Sequence[socket.socket]) -> None:
        """Closes the address, and accepts what is pending first: the kernel would reset such connections."""
        last = [connection for listener in sockets for connection in met_last(listener)]
        for server in self.servers:
            server.close()
        loop = asyncio.get_running_loop()
        with_tls = next((server for server in self.servers if isinstance(server, TlsServer)), None)
        for connection in last:
            if with_tls is None:
                await loop.connect_accepted_socket(self._protocol, connection)
            else:
                # Does not wait: the client may never begin its handshake.
                with_tls.begin(connection)

    def _protocol(self) -> asyncio.Protocol:
        protocol: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol


def met_last(listening: socket.socket) -> Iterator[socket.socket]:
    """Yields the connections that were not accepted yet. Afterwards, new ones are refused."""
    listening.setblocking(False)
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            connection.setblocking(False)
            yield connection
    with suppress(OSError):
        listening.shutdown(socket.SHUT_RDWR)
