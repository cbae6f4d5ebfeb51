"""`sluice serve`: runs the gateway until it has to stop."""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence

import typer

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import Settings
from api.bootstrap.settings_loading import load_settings
from api.bootstrap.shown_settings import secrets_of
from api.bootstrap.tracing import traced
from api.bootstrap.wiring.build_authentication import build_login_issuers, build_verifier
from api.bootstrap.wiring.build_gateway import build_gateway
from api.cli.stop_deadline import STOPPED_WITHIN_S, StopDeadline
from api.http.http_server import serve as serve_until_stopped
from api.http.protocol_servers import ProtocolFactory
from api.http.requests.stream_request import stream_definition


def serve() -> None:
    """Serves until SIGINT or SIGTERM.

    Raises:
        CannotStart: the settings are not valid, or a part does not start.
    """
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format, secrets_of(settings))
    deadline = StopDeadline(settings.shutdown_delay_s + settings.shutdown_timeout_s + STOPPED_WITHIN_S)
    stopping = threading.Event()

    def begin_stop() -> None:
        stopping.set()
        deadline.begin()

    with traced(settings):
        serve_until_stopped(
            settings,
            lambda: build_gateway(settings, stream_definition, stopping),
            _say_listening,
            begin_stop,
            build_verifier(settings),
            protocols(settings),
            build_login_issuers(settings),
        )


def protocols(settings: Settings) -> Sequence[ProtocolFactory]:
    """Returns what makes the servers of the protocols that the operator has enabled."""
    found: list[ProtocolFactory] = []
    # Most gateways use neither, and importing them takes a moment.
    if settings.speaks_hive:
        from api.hive_server.hive_server import HiveServer

        found.append(HiveServer)
    if settings.flight_port is not None:
        from api.flight.server_lifespan import FlightListener

        found.append(FlightListener)
    return found


def _say_listening(url: str) -> None:
    # The only line on standard output: scripts that start the server read its address here.
    typer.echo(f"sluice listens on {url}")
    sys.stdout.flush()
