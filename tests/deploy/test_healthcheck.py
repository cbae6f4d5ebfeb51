"""The image's health check, with a server that answers as a gateway would."""

from __future__ import annotations

import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.integration.tls import Authority

HEALTHCHECK = Path(__file__).parents[2] / "deploy" / "image" / "healthcheck.py"


@contextmanager
def answering(code: int, certificate: Path | None = None) -> Iterator[int]:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(code if self.path == "/readyz" else 500)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    class Server(HTTPServer):
        def handle_error(self, *_: object) -> None:
            # A client that does not speak TLS ends its connection here.
            return

    with Server(("127.0.0.1", 0), Answering) as server:
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def checked(port: int, **variables: str) -> int:
    environment = os.environ | {"SLUICE_PORT": str(port)} | variables
    ended = subprocess.run(
        [sys.executable, "-I", HEALTHCHECK], env=environment, capture_output=True, timeout=60
    )
    return ended.returncode


@pytest.mark.parametrize(("code", "status"), [(200, 0), (503, 1)])
def test_it_says_what_readyz_says(code: int, status: int) -> None:
    with answering(code) as port:
        assert checked(port) == status


def test_a_gateway_that_is_not_there_is_not_healthy() -> None:
    assert checked(9) == 1


@pytest.mark.parametrize("is_in_environment", [True, False], ids=["environment", "settings file"])
@pytest.mark.parametrize(("code", "status"), [(200, 0), (503, 1)])
def test_it_asks_a_gateway_that_serves_https(
    tmp_path: Path, code: int, status: int, is_in_environment: bool
) -> None:
    certificate = Authority(tmp_path).certificate("gateway.example")
    variables = {"SLUICE_TLS_CERTIFICATE_FILE": str(certificate)} if is_in_environment else {}
    with answering(code, certificate) as port:
        assert checked(port, **variables) == status
