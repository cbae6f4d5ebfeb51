"""Runs the app until the process has to stop."""

from __future__ import annotations

import asyncio
import errno
import functools
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import cast

import uvicorn
from fastapi import FastAPI

from api.bootstrap.memory import give_back_large_blocks
from api.bootstrap.settings import Settings
from api.bootstrap.settings.serving.tls import ClientCertificates
from api.http.app import create_app
from api.http.connections.bounds import bounds_of
from api.http.connections.census import Census
from api.http.connections.descriptors import with_descriptors
from api.http.connections.handshakes import TlsServer
from api.http.connections.protocol import BoundedProtocol
from api.http.connections.unread_answers import UnreadAnswers
from api.http.gateway_access import GatewayFactory
from api.http.protocol_servers import ProtocolFactory
from api.http.stopping_server import ANSWERING_S, Server
from api.http.tls.certificate_files import CertificateFiles
from api.http.tls.reloading_context import ReloadingContext
from api.http.tls.tls_config import TlsConfig
from service.errors.gateway_error import CannotStart
from service.ports.stores.api_key_store import TokenVerifier
from service.ports.stores.login_issuers import LoginIssuers

_SWITCH_INTERVAL_S = 0.001
"""How long a thread keeps the interpreter while others wait.

Some twenty threads parse and render, and the event loop may wait for each of them. With Python's 5 ms, each
event would wait for a tenth of a second.
"""
_BACKLOG = 2048


def serve(
    settings: Settings,
    gateway_factory: GatewayFactory,
    on_listening: Callable[[str], None] = lambda _: None,
    on_stopping: Callable[[], None] = lambda: None,
    verifier: TokenVerifier | None = None,
    protocols: Sequence[ProtocolFactory] = (),
    login_issuers: LoginIssuers | None = None,
) -> None:
    """Serves until SIGINT or SIGTERM, then waits for queries in progress, within the operator's bound.

    After SIGTERM the gateway first reports that it is not ready, and serves on for a while. SIGINT skips
    this.

    Args:
        settings: of this process.
        gateway_factory: called once the address is bound, in a thread.
        on_listening: gets the server's URL once it accepts connections.
        on_stopping: called once the stop begins.
        verifier: of access tokens.
        protocols: servers of other protocols.
        login_issuers: of logins.

    Raises:
        CannotStart: the address cannot be bound, the files for TLS cannot be used, or the factory raised this
            error.
    """
    sys.setswitchinterval(_SWITCH_INTERVAL_S)
    give_back_large_blocks()
    affordable = with_descriptors(settings.max_connections, connections_of_protocols(settings))
    settings = settings.model_copy(update={"max_connections": affordable})
    listening = bind(settings.host, settings.port, is_listening=not settings.listen_when_ready)
    failures: list[CannotStart] = []

    def stop(error: CannotStart) -> None:
        failures.append(error)
        server.should_exit = True

    context = tls_context(settings)
    app = create_app(
        settings,
        gateway_factory,
        on_failed_start=stop,
        verifier=verifier,
        protocols=protocols,
        login_issuers=login_issuers,
    )
    server = server_of(settings, app, on_stopping, context)
    with listening, signals_stop(server):
        if settings.listen_when_ready:
            server.on_started = lambda: on_listening(url_of(listening, settings))
        else:
            on_listening(url_of(listening, settings))
        server.run(sockets=[listening])
    if failures:
        raise failures[0]


def connections_of_protocols(settings: Settings) -> int:
    """Returns how many connections the ports of other protocols may have.

    >>> connections_of_protocols(Settings(hive_port=10000, hive_max_connections=500, flight_port=None))
    500
    """
    hive = 0 if settings.hive_port is None else settings.hive_max_connections
    return hive + (0 if settings.flight_port is None else settings.flight_max_connections)


def tls_context(settings: Settings) -> ReloadingContext | None:
    """Returns the context for TLS. None: the gateway serves plain HTTP.

    Raises:
        CannotStart: the files cannot be used.
    """
    files = certificate_files(settings)
    return None if files is None else ReloadingContext(files)


def certificate_files(settings: Settings) -> CertificateFiles | None:
    """Returns the files for TLS. None: the gateway serves plain HTTP."""
    if settings.tls_certificate_file is None or settings.tls_key_file is None:
        return None
    asks = settings.tls_client_certificates is not ClientCertificates.NONE
    authorities = settings.tls_client_ca_file if asks else None
    return CertificateFiles(settings.tls_certificate_file, settings.tls_key_file, authorities)


def server_of(
    settings: Settings,
    app: FastAPI,
    on_stopping: Callable[[], None] = lambda: None,
    context: ReloadingContext | None = None,
) -> Server:
    """Returns the server of an app, with the settings' bounds on connections."""
    bounds = bounds_of(settings)
    max_connections = with_descriptors(bounds.max_connections)
    census = Census(max_connections, bounds.max_connections_per_peer)
    app.state.app_context.process_metrics.http.watch_connections(census.__len__, max_connections)
    protocol = functools.partial(
        BoundedProtocol,
        bounds=bounds,
        census=census,
        unread=UnreadAnswers(bounds.max_unread_bytes),
    )
    app.state.app_context.process_metrics.tls.context = context

    def listen(
        protocol_factory: Callable[[], asyncio.Protocol], sock: socket.socket, backlog: int
    ) -> TlsServer:
        assert context is not None
        listening = TlsServer(protocol_factory, sock, context, census, settings.header_timeout_s)
        listening.listen(backlog)
        return listening

    config = TlsConfig(
        app,
        context=context,
        listen=listen,
        http=cast("type[asyncio.Protocol]", protocol),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_keep_alive=settings.keep_alive_timeout_s,
        timeout_graceful_shutdown=settings.shutdown_timeout_s + ANSWERING_S,
    )
    return Server(
        config,
        app.state.app_context.access,
        settings.shutdown_delay_s,
        settings.shutdown_timeout_s,
        on_stopping,
    )


@contextmanager
def signals_stop(server: uvicorn.Server) -> Iterator[None]:
    """Lets SIGINT and SIGTERM stop the server and do nothing else.

    uvicorn raises a signal again once it has stopped, which would end the process before its cleanup.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_number: int, _frame: FrameType | None) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def bind(host: str, port: int, *, is_listening: bool = True, setting: str = "SLUICE_PORT") -> socket.socket:
    """Returns a bound socket. Until it listens, connections are refused. `setting` is that of the port.

    Raises:
        CannotStart: the port is taken, or the address is not one of this machine.
    """
    bare = host.strip("[]")
    listening: socket.socket | None = None
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(bare, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        if is_listening:
            listening.listen(_BACKLOG)
    except OSError as error:
        if listening is not None:
            listening.close()
        raise CannotStart(_cure(error, host, port, setting)) from None
    return listening


def _cure(error: OSError, host: str, port: int, setting: str) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} on {host} is taken: stop what listens there, or set {setting} to another."
        case errno.EACCES:
            return f"Port {port} needs more rights than this process has: set {setting} above 1023."
        case _:
            return f"The gateway cannot listen on {host} ({error.strerror}): set SLUICE_HOST."


def url_of(listening: socket.socket, settings: Settings | None = None) -> str:
    """Returns the address of the socket as a URL."""
    scheme = "https" if settings is not None and settings.has_tls else "http"
    host, port = listening.getsockname()[:2]
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
