"""The contract of `RunLeases`, on the fake and on a real server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol
from uuid import uuid4

import pytest

from service.adapters.filters.cache_connection import CacheConnection
from service.adapters.reuse.run_leases import LEASE_MS, RedisRunLeases
from service.ports.stores.reusable_results import NoRunLeases, RunLeases
from tests.fakes.clock import FakeClock
from tests.fakes.shared_reuse import FakeRunLeases, SharedReuse

# Long, so that a busy machine does not look like a server that is down.
ANSWER_WITHIN_S = 10.0


class Pass(Protocol):
    def __call__(self) -> None: ...


@dataclass
class Server:
    """Leases of two replicas, and a way to let a lease run out that nobody renews."""

    here: RunLeases
    there: RunLeases
    wait_for_end: Pass


@pytest.fixture(params=["fake", "valkey"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    clock = FakeClock()
    if request.param == "fake":
        shared = SharedReuse(clock)
        yield Server(
            FakeRunLeases(shared),
            FakeRunLeases(shared),
            lambda: clock.advance(timedelta(milliseconds=LEASE_MS)),
        )
        return
    url, store = request.getfixturevalue("valkey").url, str(uuid4())
    connections = [CacheConnection(url, clock, ANSWER_WITHIN_S) for _ in range(2)]
    here, there = (RedisRunLeases(connection, store) for connection in connections)
    yield Server(here, there, lambda: time.sleep(LEASE_MS / 1000 + 0.2))
    for connection in connections:
        connection.close()


@pytest.fixture(params=["fake", "refused", "silent", "none"])
def down(request: pytest.FixtureRequest) -> Iterator[RunLeases]:
    if request.param == "none":
        yield NoRunLeases()
        return
    if request.param == "fake":
        yield FakeRunLeases(SharedReuse(is_down=True))
        return
    is_silent = request.param == "silent"
    address = request.getfixturevalue("silent_address") if is_silent else "127.0.0.1:9"
    connection = CacheConnection(f"redis://{address}/0", FakeClock(), 0.4)
    yield RedisRunLeases(connection, "store")
    connection.close()


def test_one_holder_at_a_time(server: Server) -> None:
    assert server.here.claim("a", "one")
    assert not server.there.claim("a", "two")
    assert server.there.claim("b", "two")
    assert set(server.there.held(["a", "b", "c"])) == {"a", "b"}
    server.here.release("a", "one")
    assert set(server.there.held(["a", "b"])) == {"b"}
    assert server.there.claim("a", "two")


def test_only_its_holder_ends_or_prolongs_a_lease(server: Server) -> None:
    assert server.here.claim("a", "one")
    server.there.release("a", "two")
    assert not server.there.claim("a", "two")
    server.there.renew({"a": "two"})
    server.wait_for_end()
    assert not server.here.held(["a"])
    assert server.there.claim("a", "two")
    # Too late: it belongs to another one by now.
    server.here.renew({"a": "one"})
    server.here.release("a", "one")
    assert server.here.held(["a"])


def test_nothing_is_held_by_default(server: Server) -> None:
    assert not server.here.held([])
    assert not server.here.held(["a"])
    server.here.release("a", "one")
    server.here.renew({"a": "one"})
    assert not server.here.held(["a"])


def test_without_a_server_everybody_may_run(down: RunLeases) -> None:
    before = time.monotonic()
    for _ in range(20):
        assert down.claim("a", "one")
        assert down.claim("a", "two")
        down.renew({"a": "one", "b": "one"})
        assert not down.held(["a", "b"])
        down.release("a", "one")
    # After the first failure, the server rests.
    assert time.monotonic() - before < 10
