"""Listens for connections, and ends them within bounds."""

from __future__ import annotations

import asyncio
import socket
import ssl
from contextlib import suppress

import structlog

from api.hive_server.calls.context import CallContext
from api.hive_server.calls.session_calls import end_all
from api.hive_server.transport.answers import Answers, transport_of
from api.hive_server.transport.hive_connection import Connection, Refused
from api.hive_server.wire.unreadable_message import MessageFault
from api.http.connections.census import Admission, Census
from api.http.connections.handshakes import TlsServer
from api.http.connections.peers import peer_of
from api.http.connections.unread_answers import UnreadAnswers, reset

_BACKLOG = 512
_ENDED_WITHIN_S = 2.0
_log = structlog.stdlib.get_logger("api.hive_server")


class _Open:
    """An open connection, as the census counts it."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.writer = writer
        self.peer = peer_of(writer.get_extra_info("peername"))

    def is_slow(self) -> bool:
        """Whether its body arrives too slowly: each message has a bound of its own."""
        return False

    def drop(self) -> None:
        """Ends the connection to make room for another one."""
        reset(transport_of(self.writer))


class Listener:
    """Accepts connections on a socket. Its methods must be called on the event loop's thread."""

    def __init__(
        self, context: CallContext, listening: socket.socket, tls: ssl.SSLContext | None = None
    ) -> None:
        settings = context.settings
        self._context = context
        self._listening = listening
        self._tls = tls
        # No connection is for probes: these come by HTTP.
        self._census = Census(settings.hive_max_connections, settings.hive_max_connections_per_peer, 1)
        self._answers = Answers(
            UnreadAnswers(settings.hive_max_unread_bytes),
            settings.hive_message_timeout_s,
            settings.body_min_bytes_per_s,
        )
        self._server: asyncio.Server | TlsServer | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        context.metrics.watch_connections(self._census.__len__)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        port: int = self._listening.getsockname()[1]
        return port

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._census)

    @property
    def is_listening(self) -> bool:
        """Whether it accepts connections."""
        server = self._server
        return server.is_serving() if isinstance(server, asyncio.Server) else server is not None

    async def start(self) -> None:
        """Begins to accept connections."""
        loop = asyncio.get_running_loop()
        if self._tls is None:
            self._server = await loop.create_server(self._protocol, sock=self._listening, backlog=_BACKLOG)
            return
        handshake_s = self._context.settings.hive_handshake_timeout_s
        tls = TlsServer(self._protocol, self._listening, self._tls, self._census, handshake_s)
        tls.listen(_BACKLOG)
        self._server = tls

    async def stop(self) -> None:
        """Accepts no more connections, and ends those that are open, within a bound."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self._listening.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_ENDED_WITHIN_S)

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(), self._begin)

    def _begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened = _Open(writer)
        if self._census.enter(opened) is not Admission.WHOLLY:
            self._census.leave(opened)
            self._refused(opened.peer, "too_many")
            reset(transport_of(writer))
            return
        # Until it has authenticated, it may be ended to make room for another one.
        self._census.waits(opened)
        _keep_alive(writer)
        connection = Connection(self._context, self._answers, reader, writer, opened.peer)
        try:
            source = await connection.negotiate()
            self._census.waits_no_more(opened)
            await connection.serve(source)
        except Refused as refused:
            self._refused(opened.peer, str(refused))
        except MessageFault as fault:
            _log.info("hive_message_refused", peer=opened.peer, reason=str(fault))
        except (TimeoutError, asyncio.IncompleteReadError, OSError) as error:
            _log.debug("hive_connection_ended", peer=opened.peer, error=type(error).__name__)
        finally:
            self._census.leave(opened)
            writer.close()
            await end_all(self._context, connection.client)

    def _refused(self, peer: str, reason: str) -> None:
        self._context.metrics.refused(reason)
        _log.info("hive_connection_refused", peer=peer, reason=reason)


def _keep_alive(writer: asyncio.StreamWriter) -> None:
    """Lets the system find out about clients whose machines are gone."""
    connection = writer.get_extra_info("socket")
    if connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
