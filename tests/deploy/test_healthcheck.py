"""The image's health check, with a server that answers as a gateway would."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

HEALTHCHECK = Path(__file__).parents[2] / "deploy" / "image" / "healthcheck.py"


@contextmanager
def answering(code: int) -> Iterator[int]:
    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(code if self.path == "/readyz" else 500)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            return

    with HTTPServer(("127.0.0.1", 0), Answering) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


def checked(port: int) -> int:
    environment = os.environ | {"SLUICE_PORT": str(port)}
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
