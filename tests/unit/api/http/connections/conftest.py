from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import pytest

from api.bootstrap.settings import Settings
from api.http.app import create_app
from api.http.http_server import bind, server_of
from tests.fakes.gateway import FakeGateway
from tests.unit.api.http.connections.raw_client import RawClient

Clients = Callable[[], RawClient]


@contextmanager
def served(settings: Settings, gateway: FakeGateway) -> Iterator[Clients]:
    """Runs a real server in a thread on a free port, and yields a factory of clients, which it closes."""
    app = create_app(settings, lambda: gateway)
    server = server_of(settings, app)
    with bind("127.0.0.1", 0) as listening, ExitStack() as clients:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        address = listening.getsockname()
        try:
            while not _is_ready(address):
                pass
            yield lambda: clients.enter_context(RawClient(address))
        finally:
            clients.close()
            server.should_exit = True
            thread.join()


def _is_ready(address: tuple[str, int]) -> bool:
    with RawClient(address) as client:
        return client.ask(b"/readyz").status == 200


Serving = Callable[..., Clients]


@pytest.fixture
def serving(gateway: FakeGateway) -> Iterator[Serving]:
    """Serves the fake gateway with the given settings until the test ends."""
    with ExitStack() as stack:
        # A query that never ends would hold up the end of its test for as long as a stop may take.
        yield lambda **settings: stack.enter_context(
            served(Settings(**{"shutdown_timeout_s": 1} | settings), gateway)
        )


@pytest.fixture(scope="module")
def clients() -> Iterator[Clients]:
    """Makes clients of a server with default settings."""
    with served(Settings(), FakeGateway()) as made:
        yield made
