"""`sluice serve`: runs the gateway until it has to stop."""

from __future__ import annotations

import sys
import threading

import typer

from api.bootstrap.logs import configure_logging
from api.bootstrap.settings import Settings
from api.bootstrap.settings_loading import load_settings
from api.bootstrap.tracing import traced
from api.bootstrap.wiring import build_gateway
from api.bootstrap.wiring_authentication import build_verifier
from api.cli.stop_deadline import STOPPED_WITHIN_S, StopDeadline
from api.http.protocol_servers import ProtocolFactory
from api.http.requests.stream_request import stream_definition
from api.http.server import serve as serve_until_stopped


def serve() -> None:
    """Serves until SIGINT or SIGTERM.

    Raises:
        CannotStart: the settings are not valid, or a part does not start.
    """
    settings = load_settings()
    configure_logging(settings.log_level, settings.log_format)
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
            _protocols(settings),
        )


def _protocols(settings: Settings) -> list[ProtocolFactory]:
    found: list[ProtocolFactory] = []
    if settings.speaks_hive:
        # Most gateways do not use it, and importing it takes a moment.
        from api.hive_server.server import HiveServer

        found.append(HiveServer)
    return found


def _say_listening(url: str) -> None:
    # The only line on standard output: scripts that start the server read its address here.
    typer.echo(f"sluice listens on {url}")
    sys.stdout.flush()
