"""Starts and stops the server with the app."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import suppress

import pyarrow as pa
import structlog
from fastapi import APIRouter

from api.bootstrap.settings import Settings
from api.flight.calls.call_places import CallPlaces
from api.flight.calls.expiring import ExpiryBounds
from api.flight.calls.flight_calls import CallFactory
from api.flight.calls.flight_metrics import FlightMetrics
from api.flight.calls.identified_callers import Callers
from api.flight.connections.connection_watch import ConnectionWatch, WatchBounds
from api.flight.connections.open_calls import OpenCalls
from api.flight.connections.own_sockets import OwnSockets
from api.flight.flight_server import Address, FlightSqlServer, Handlers
from api.flight.metadata.metadata_commands import Metadata
from api.flight.metadata.sql_info import InfoBounds, infos
from api.flight.statements.client_actions import Actions
from api.flight.statements.client_sessions import ClientSessions
from api.flight.statements.flight_queries import Queries
from api.flight.statements.prepared import PreparedStatements
from api.flight.statements.puts import Puts
from api.http.protocol_servers import ProtocolEdge
from api.sql_protocols.shared_parts import shared_parts
from service.errors.gateway_error import CannotStart
from service.model.operations.health import PartHealth, PartState

PART = "flightSql"
STOPPED_WITHIN_S = 3.0
"""How long a stop waits for calls that are asked to end. A client that reads nothing keeps its call."""
_log = structlog.stdlib.get_logger("api.flight")


class FlightListener:
    """The `ProtocolServer` of Arrow Flight SQL."""

    def __init__(self, edge: ProtocolEdge) -> None:
        self._settings = edge.settings
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: FlightSqlServer | None = None
        settings, metrics = edge.settings, FlightMetrics(edge.registry)
        shared = shared_parts(edge)
        callers = Callers(shared.login, lambda: self._loop, _logins(settings), edge.clock)
        prepared = PreparedStatements(_prepared(settings), edge.clock)
        sessions = ClientSessions(shared.sessions, callers, settings)
        queries = Queries(
            lambda: edge.access.gateway,
            shared.statements,
            sessions,
            _executions(settings),
            edge.clock,
            metrics,
        )
        self._handlers = Handlers(
            callers,
            queries,
            prepared,
            Metadata(shared.listing, infos(_info_bounds(settings))),
            Actions(queries, prepared, sessions),
            Puts(queries, prepared, settings.flight_max_message_bytes),
            settings.flight_max_message_bytes,
        )
        self._places = CallPlaces(settings.flight_max_calls, settings.flight_max_calls_per_caller)
        self._calls = OpenCalls(edge.clock)
        self._clock = edge.clock
        self._watch: ConnectionWatch | None = None
        self._metrics = metrics
        metrics.watch(lambda: self._places.taken, self._places.size, prepared.__len__, callers.__len__)

    @property
    def router(self) -> APIRouter | None:
        """None: it has no routes in the app."""
        return None

    @property
    def port(self) -> int:
        """The port that it listens on; 0: it does not listen."""
        return 0 if self._server is None else int(self._server.port)

    @property
    def connections(self) -> int:
        """How many connections there were at the last look."""
        return 0 if self._watch is None else len(self._watch)

    @property
    def calls(self) -> int:
        """How many calls are served now."""
        return self._places.taken

    async def start(self) -> None:
        """Begins to listen.

        Raises:
            CannotStart: the address cannot be bound, or the files for TLS cannot be used.
        """
        self._loop = asyncio.get_running_loop()
        host, port = self._settings.flight_host or self._settings.host, self._settings.flight_port or 0
        _check_free(host, port)
        certificates = _certificates(self._settings)
        scheme = "grpc+tls" if certificates else "grpc"
        calls = CallFactory(self._places, self._calls, self._metrics, self._handlers.callers.handshake)
        address = Address(f"{scheme}://{host}:{port}", certificates)
        try:
            self._server = FlightSqlServer(address, self._handlers, calls)
        except (pa.ArrowException, OSError):
            raise CannotStart(
                f"Arrow Flight SQL cannot listen on {host}:{port}: set SLUICE_FLIGHT_HOST and"
                " SLUICE_FLIGHT_PORT, and check the files for TLS."
            ) from None
        self._watch = ConnectionWatch(
            OwnSockets(self.port), self._calls, _watch_bounds(self._settings), self._clock
        )
        self._watch.start()
        _log.info("flight_listens", address=f"{scheme}://{host}:{self._server.port}")

    async def stop(self) -> None:
        """Begins no more calls, and waits for those that are open, within a bound."""
        server, self._server = self._server, None
        if server is None:
            return
        server.refuse()
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()

        def shut_down() -> None:
            server.shutdown()
            # Nobody waits any more if the loop has ended.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(stopped.set)

        # A daemon: it waits for clients, for as long as they like.
        threading.Thread(target=shut_down, name="flight-stop", daemon=True).start()
        try:
            await asyncio.wait_for(stopped.wait(), STOPPED_WITHIN_S)
        except TimeoutError:
            _log.warning("flight_calls_open_at_stop", calls=self._places.taken)
        finally:
            if self._watch is not None:
                self._watch.close()

    def health(self) -> PartHealth | None:
        """Reports whether it listens."""
        is_up = self._server is not None
        detail = "" if is_up else "Arrow Flight SQL does not listen."
        return PartHealth(PART, PartState.UP if is_up else PartState.DOWN, detail)


def _logins(settings: Settings) -> ExpiryBounds:
    return ExpiryBounds(
        size=settings.flight_max_logins,
        size_per_owner=settings.flight_max_logins_per_caller
        if settings.has_authentication
        else settings.flight_max_logins,
        idle_ms=settings.flight_idle_timeout_s * 1000,
    )


def _prepared(settings: Settings) -> ExpiryBounds:
    return ExpiryBounds(
        size=settings.flight_max_prepared_statements,
        size_per_owner=settings.flight_max_prepared_statements_per_caller,
        idle_ms=settings.flight_idle_timeout_s * 1000,
    )


def _executions(settings: Settings) -> ExpiryBounds:
    return ExpiryBounds(
        size=settings.flight_max_prepared_statements,
        size_per_owner=settings.flight_max_prepared_statements_per_caller,
        idle_ms=(settings.result_ttl_s + settings.max_query_timeout_s) * 1000,
    )


def _watch_bounds(settings: Settings) -> WatchBounds:
    return WatchBounds(
        max_connections=settings.flight_max_connections,
        max_per_peer=settings.flight_max_connections_per_peer,
        first_call_ms=settings.flight_first_call_timeout_s * 1000,
        idle_ms=settings.flight_idle_timeout_s * 1000,
        stalled_ms=settings.flight_stalled_timeout_s * 1000,
    )


def _info_bounds(settings: Settings) -> InfoBounds:
    return InfoBounds(
        max_sql_bytes=settings.max_sql_bytes,
        max_prepared_statements=settings.flight_max_prepared_statements_per_caller,
        prepared_statement_ttl_ms=settings.flight_idle_timeout_s * 1000,
    )


def _certificates(settings: Settings) -> tuple[tuple[bytes, bytes], ...]:
    if settings.tls_certificate_file is None or settings.tls_key_file is None:
        return ()
    try:
        return ((settings.tls_certificate_file.read_bytes(), settings.tls_key_file.read_bytes()),)
    except OSError as error:
        raise CannotStart(f"The files for TLS cannot be read ({error.strerror}).") from None


def _check_free(host: str, port: int) -> None:
    """Checks that no other process listens there: gRPC would share the port with it.

    Raises:
        CannotStart: another process does.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM
        )[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise CannotStart(
            f"Arrow Flight SQL cannot listen on {host}:{port} ({error.strerror}): set SLUICE_FLIGHT_PORT to"
            " another port."
        ) from None
