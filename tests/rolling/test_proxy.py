"""The proxy that replaces nginx follows nginx's rules."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from tests.rolling.front import CONFIGURATION, configured, free_ports
from tests.rolling.proxy import proxy


@contextmanager
def gateway(port: int, status: int, name: str, *, is_mute: bool = False) -> Iterator[list[str]]:
    """Runs a server that answers with this status, or reads the request and closes the connection."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            asked.append(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())
            if is_mute:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Content-Length", str(len(name)))
            self.end_headers()
            self.wfile.write(name.encode())

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield asked
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def ports() -> list[int]:
    return free_ports(3)


@pytest.fixture
def client(ports: list[int]) -> Iterator[httpx.Client]:
    """A client without a token, so it stays with one gateway, which `stays` returns."""
    with proxy(ports[2], ports[:2]), httpx.Client(base_url=f"http://127.0.0.1:{ports[2]}") as made:
        yield made


def stays(client: httpx.Client, ports: list[int]) -> int:
    with gateway(ports[0], 200, "0"), gateway(ports[1], 200, "1"):
        return int(client.get("/livez").text)


def test_a_gateway_that_refuses_connections_is_passed_over(client: httpx.Client, ports: list[int]) -> None:
    other = 1 - stays(client, ports)
    with gateway(ports[other], 200, "other"):
        assert client.post("/ingest", content=b"{}").text == "other"
    assert client.post("/ingest", content=b"{}").status_code == 502


def test_what_was_sent_is_not_sent_again(client: httpx.Client, ports: list[int]) -> None:
    own = stays(client, ports)
    other = gateway(ports[1 - own], 200, "other")
    with gateway(ports[own], 200, "own", is_mute=True) as asked, other as sent:
        assert client.post("/ingest", content=b"{}").status_code == 502
    assert (asked, sent) == (["{}"], [])


@pytest.mark.parametrize(
    ("path", "status", "is_passed_on"),
    [
        ("/query", 503, True),
        ("/query", 404, False),
        ("/query/1", 410, True),
        ("/explain/1", 404, True),
        ("/ingest", 503, False),
    ],
)
def test_a_query_goes_on_to_the_gateway_that_may_know_it(
    client: httpx.Client, ports: list[int], path: str, status: int, is_passed_on: bool
) -> None:
    own = stays(client, ports)
    with gateway(ports[own], status, "own"), gateway(ports[1 - own], 200, "other"):
        assert client.post(path, content=b"{}").text == ("other" if is_passed_on else "own")


def test_nginx_is_given_the_shipped_rules_with_other_addresses(tmp_path: Path) -> None:
    text = configured(tmp_path, 1, (2, 3))
    for directive in ("proxy_next_upstream", "max_fails=0", "error_page 404 410 503"):
        assert text.count(directive) == CONFIGURATION.read_text().count(directive) > 0
    assert "gateway-1:" not in text
    assert '"~:2$" gateway_2;' in text
