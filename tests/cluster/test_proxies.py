"""Tests the proxies that stand between callers and gateways in drills."""

from __future__ import annotations

import socket
import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.cluster.balancer import CONFIGURATION, free_port, on_loopback
from tests.tcp_proxy import HOST, TcpProxy, by_caller


@contextmanager
def answering(name: bytes) -> Iterator[int]:
    """Runs a server that answers each piece of input with its name, and yields its port."""

    class Answer(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while self.request.recv(65_536):
                self.request.sendall(name)

    with socketserver.ThreadingTCPServer((HOST, 0), Answer) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def asked(port: int, caller: str) -> bytes:
    with socket.create_connection((HOST, port), 10) as peer:
        peer.sendall(f"GET / HTTP/1.1\r\nAuthorization: Bearer {caller}\r\n\r\n".encode())
        return peer.recv(100)


def test_a_caller_stays_with_a_gateway_and_has_the_other_one_while_that_one_is_away() -> None:
    with ExitStack() as stack:
        ports = [stack.enter_context(answering(name)) for name in (b"one", b"two")]
        proxy = stack.enter_context(TcpProxy(by_caller(ports), reads_head=True))
        found = {caller: asked(proxy.port, caller) for caller in "abcdefgh"}
        assert set(found.values()) == {b"one", b"two"}
        assert {caller: asked(proxy.port, caller) for caller in found} == found
        away = stack.enter_context(TcpProxy(by_caller([ports[0], free_port()]), reads_head=True))
        assert {asked(away.port, caller) for caller in found} == {b"one"}


def test_a_line_that_is_stalled_takes_connections_and_lets_nothing_through_until_it_goes_on() -> None:
    with answering(b"here") as port, TcpProxy(lambda _: [port]) as proxy:
        proxy.line.is_stalled = True
        with socket.create_connection((HOST, proxy.port), 0.3) as peer:
            peer.sendall(b"hello")
            with pytest.raises(TimeoutError):
                peer.recv(100)
            proxy.line.is_stalled = False
            peer.settimeout(10)
            assert peer.recv(100) == b"here"
            proxy.cut()
            assert peer.recv(100) == b""


def test_a_slow_line_takes_its_time_both_ways() -> None:
    with answering(b"here") as port, TcpProxy(lambda _: [port]) as proxy:
        proxy.line.delay_s = 0.2
        began_s = time.monotonic()
        assert asked(proxy.port, "a") == b"here"
        assert time.monotonic() - began_s >= 0.4


def test_nginx_is_tried_with_the_configuration_of_the_composition() -> None:
    found = on_loopback(CONFIGURATION.read_text(), Path("/folder"), 5, [61_001, 61_002])
    assert "listen 127.0.0.1:5;" in found
    assert found.count("127.0.0.1:61001") >= 2
    assert found.count("127.0.0.1:61001") == found.count("127.0.0.1:61002")
    assert '"~:61001$"' in found
    for left in ("/tmp/", ":8080", "gateway-1:", "gateway-2:"):
        assert left not in found
