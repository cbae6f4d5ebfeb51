"""Many simultaneous connections to a real server."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from tests.fakes.gateway import FakeGateway
from tests.unit.api.http.connections.conftest import Clients, Serving
from tests.unit.api.http.connections.raw_client import RawClient, post, wait_until_one_is_reset

SLOW = {"sql": "select slow", "waitTimeout": "50s"}


def waiting_queries(clients: Clients, number: int) -> list[RawClient]:
    body = json.dumps(SLOW).encode()
    return [clients().send(post(b"/query", body)) for _ in range(number)]


def until_waited_for(gateway: FakeGateway, number: int) -> None:
    while gateway.queries.waits_asked_for < number:
        pass


def test_half_sent_heads_keep_nobody_out(serving: Serving) -> None:
    clients = serving(max_connections=16)
    half_sent = [clients().send(b"GET / HTTP/1.1\r\nX: ") for _ in range(40)]
    assert clients().ask(b"/healthz").status == 200
    assert half_sent[0].answer().code == "TOO_MANY_CONNECTIONS"


def test_idle_connections_keep_nobody_out(serving: Serving) -> None:
    clients = serving(max_connections=16, keep_alive_timeout_s=600)
    idle = [clients() for _ in range(40)]
    for client in idle[-10:]:
        assert client.ask(b"/healthz").status == 200
    assert clients().post(b"/query", {"sql": "select 1"}).status == 200
    assert idle[0].is_closed()


def test_bodies_that_stand_still_keep_nobody_out(serving: Serving) -> None:
    clients = serving(max_connections=16)
    waiting = [clients().send(post(b"/query", b" " * 4096)[:-4000]) for _ in range(16)]
    while clients().ask(b"/tables").status == 503:
        pass
    dropped = waiting[0].answer()
    assert (dropped.status, dropped.code) == (503, "TOO_MANY_CONNECTIONS")


def test_while_every_connection_waits_for_its_query_probes_are_answered(
    serving: Serving, gateway: FakeGateway
) -> None:
    gateway.queries.unfinished.add("select slow")
    clients = serving(max_connections=16)
    waiting_queries(clients, 16)
    until_waited_for(gateway, 16)
    refused = clients().post(b"/query", {"sql": "select 1"})
    assert (refused.status, refused.code) == (503, "TOO_MANY_CONNECTIONS")
    assert refused.headers["retry-after"]
    assert refused.headers["connection"] == "close"
    for probe in (b"/healthz", b"/livez", b"/readyz"):
        answer = clients().ask(probe)
        assert (answer.status, answer.headers["connection"]) == (200, "close")


def test_one_peer_that_uses_up_its_share_leaves_the_rest_to_others(
    serving: Serving, gateway: FakeGateway
) -> None:
    gateway.queries.unfinished.add("select slow")
    clients = serving(max_connections=32, max_connections_per_peer=8)
    hog = waiting_queries(clients, 8)
    until_waited_for(gateway, 8)
    assert clients().post(b"/query", {"sql": "select 1"}).status == 503
    with hog[0].from_address("127.0.0.2") as other:
        assert other.post(b"/query", {"sql": "select 1"}).status == 200


def test_an_answer_that_nobody_reads_is_not_buffered(serving: Serving, gateway: FakeGateway) -> None:
    gateway.queries.rows = pa.table({"text": ["x" * 1000] * 20_000})
    gateway.queries.chunk_rows = 20_000
    clients = serving(unread_answer_timeout_s=1)
    greedy = clients().small_window()
    greedy.send(post(b"/query", json.dumps({"sql": "select 1"}).encode()))
    assert clients().ask(b"/healthz").status == 200
    wait_until_one_is_reset([greedy])


def test_answers_that_nobody_reads_have_a_bound_together(serving: Serving, gateway: FakeGateway) -> None:
    gateway.queries.rows = pa.table({"text": ["x" * 1000] * 10_000})
    gateway.queries.chunk_rows = 10_000
    clients = serving(unread_answer_timeout_s=600, max_unread_answer_bytes=16 * 1024**2)
    body = post(b"/query", json.dumps({"sql": "select 1"}).encode())
    # Whose answer is ready first is reset first: on a busy machine, that may be any of them.
    greedy = [clients().small_window().send(body) for _ in range(4)]
    wait_until_one_is_reset(greedy)
    assert clients().ask(b"/healthz").status == 200


@pytest.mark.parametrize("rest", [b"", b"x" * 500_000])
def test_a_refused_body_is_not_waited_for(serving: Serving, rest: bytes) -> None:
    clients = serving(max_body_bytes=1024, keep_alive_timeout_s=1)
    client = clients().send(
        b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" + rest
    )
    assert client.answer().status == 413
    assert client.is_closed()
