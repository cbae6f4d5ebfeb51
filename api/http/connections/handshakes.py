"""Accepts TLS connections, and counts those whose handshake is not over."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable

import structlog

from api.http.connections.census import Census
from api.http.connections.peers import UNKNOWN, peer_of

ACCEPTED_AT_ONCE = 100
PAUSE_S = 1.0
"""How long nothing is accepted after the system had no descriptor or memory for a connection."""
_log = structlog.stdlib.get_logger("api.connections")


class Handshake:
    """A connection whose handshake is not over. The census may end it to make room for another one."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        try:
            self.peer = peer_of(connection.getpeername())
        except OSError:
            # The client went away.
            self.peer = UNKNOWN

    def is_slow(self) -> bool:
        """Whether its body arrives too slowly: it has none yet."""
        return False

    def drop(self) -> None:
        """Ends the connection. Its transport closes the socket."""
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return


class TlsServer:
    """Accepts connections on a socket, and counts them from the start.

    The event loop's own server reports a TLS connection after its handshake, so silent clients could take
    all descriptors. uvicorn calls only `close` and `wait_closed` of a server.

    Its methods must be called on the event loop's thread.
    """

    def __init__(
        self,
        protocol_factory: Callable[[], asyncio.Protocol],
        sock: socket.socket,
        context: ssl.SSLContext,
        census: Census,
        handshake_timeout_s: float,
    ) -> None:
        self._protocol_factory = protocol_factory
        self._socket = sock
        self._context = context
        self._census = census
        self._timeout_s = handshake_timeout_s
        self._loop = asyncio.get_running_loop()
        self._handshakes: set[asyncio.Task[None]] = set()
        self._resuming: asyncio.TimerHandle | None = None
        self._is_closed = False

    def listen(self, backlog: int) -> None:
        """Begins to accept connections."""
        self._socket.setblocking(False)
        self._socket.listen(backlog)
        self._loop.add_reader(self._socket, self._accept)

    def begin(self, connection: socket.socket) -> None:
        """Begins the handshake of an accepted connection, also after the server was closed."""
        handshake = Handshake(connection)
        self._census.enter(handshake)
        self._census.waits(handshake)
        task = self._loop.create_task(self._shake_hands(handshake))
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    def close(self) -> None:
        """Accepts no more connections. Handshakes that have begun go on."""
        if self._is_closed:
            return
        self._is_closed = True
        if self._resuming is not None:
            self._resuming.cancel()
        self._loop.remove_reader(self._socket)
        self._socket.close()

    async def wait_closed(self) -> None:
        """Waits for the end of the handshakes that have begun."""
        if self._handshakes:
            await asyncio.wait(self._handshakes)

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._pause(error)
                return
            connection.setblocking(False)
            self.begin(connection)

    async def _shake_hands(self, handshake: Handshake) -> None:
        def protocol() -> asyncio.Protocol:
            made = self._protocol_factory()

            def connection_made(transport: asyncio.BaseTransport) -> None:
                # The connection counts from here on, and must not be ended to make room for itself.
                self._census.leave(handshake)
                del made.connection_made
                made.connection_made(transport)

            made.connection_made = connection_made  # type: ignore[method-assign]
            return made

        try:
            await self._loop.connect_accepted_socket(
                protocol,
                handshake.connection,
                ssl=self._context,
                ssl_handshake_timeout=self._timeout_s,
            )
        except OSError as error:
            # The client went away, does not speak TLS, or was too slow. The transport has closed the socket.
            _log.debug("handshake_failed", peer=handshake.peer, error=type(error).__name__)
        finally:
            self._census.leave(handshake)

    def _pause(self, error: OSError) -> None:
        self._loop.remove_reader(self._socket)
        if self._is_closed:
            return
        _log.error("connections_not_accepted", reason=error.strerror or "unknown", seconds=PAUSE_S)
        self._resuming = self._loop.call_later(PAUSE_S, self._resume)

    def _resume(self) -> None:
        if not self._is_closed:
            self._loop.add_reader(self._socket, self._accept)
