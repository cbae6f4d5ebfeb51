"""An unauthenticated client uses little memory; this is tested in a separate process."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from tests.unit.api.http.connections.raw_client import RawClient

MIB = 1024**2
SERVER = """
from api.http.http_server import serve
from api.bootstrap.settings import Settings
from tests.fakes.gateway import FakeGateway
serve(Settings(port=0), FakeGateway, lambda url: print(url.rpartition(":")[2], flush=True))
"""


@pytest.mark.parametrize(
    ("begin", "part"),
    [
        (b"GET / HTTP/1.1\r\nHost: a\r\n", b"a:b\r\n" * 200_000),
        (b"GET / HTTP/1.1\r\nX: ", b"v" * MIB),
        (b"GET /", b"a" * MIB),
        (b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 30_000),
        (b"POST /query HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"e" * MIB),
    ],
)
def test_what_comes_before_a_request_is_one_takes_little_memory(begin: bytes, part: bytes) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as server:
        try:
            assert server.stdout is not None
            address = ("127.0.0.1", int(server.stdout.readline()))
            process = psutil.Process(server.pid)
            with RawClient(address) as client:
                assert client.ask(b"/healthz").status == 200
            before = process.memory_info().rss
            with RawClient(address) as attacker, RawClient(address) as other:
                attacker.send(begin)
                attacker.send_until_closed(part, 60)
                assert other.ask(b"/healthz").status == 200
                taken = process.memory_info().rss - before
        finally:
            server.terminate()
    assert taken < 32 * MIB
