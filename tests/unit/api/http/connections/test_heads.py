"""The limits on what a client sends before its request is complete."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from tests.unit.api.http.connections.conftest import Clients, Serving
from tests.unit.api.http.connections.raw_client import post

HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
QUERY = json.dumps({"sql": "select 1"}).encode()


def lines(number: int, size: int = 8) -> bytes:
    return b"".join(b"X-%d: %s\r\n" % (index, b"v" * size) for index in range(number))


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        (HEAD + lines(101), 431, "HEADERS_TOO_LARGE"),
        (HEAD + lines(40, 1000), 431, "HEADERS_TOO_LARGE"),
        (HEAD + b"X: " + b"v" * 40_000, 431, "HEADERS_TOO_LARGE"),
        (HEAD + b"X: " + b" " * 200_000, 431, "HEADERS_TOO_LARGE"),
        (b"\r\n" * 100_000, 431, "HEADERS_TOO_LARGE"),
        (b"GET /" + b"a" * 70_000, 414, "URL_TOO_LONG"),
        (b"GET /tables?" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: localhost\r\n", 414, "URL_TOO_LONG"),
    ],
)
def test_a_head_beyond_its_bounds_is_refused(clients: Clients, head: bytes, status: int, code: str) -> None:
    client = clients()
    answer = client.send(head + b"\r\n\r\n").answer()
    assert (answer.status, answer.code) == (status, code)
    assert answer.headers["connection"] == "close"
    assert answer.headers["x-request-id"]
    assert client.is_closed()


def test_headers_without_an_end_are_read_no_further(clients: Clients) -> None:
    client = clients()
    client.send(HEAD)
    client.send_until_closed(b"X: v\r\n" * 10_000, 300)
    assert client.answer().code == "HEADERS_TOO_LARGE"


def test_a_head_within_its_bounds_is_served(clients: Clients) -> None:
    assert clients().send(HEAD + lines(99) + b"\r\n").answer().status == 200
    assert clients().send(HEAD + lines(30, 1000) + b"\r\n").answer().status == 200
    assert clients().ask(b"/tables?catalog=" + b"a" * 60_000).status != 414


def test_the_bounds_are_settings(serving: Serving) -> None:
    clients = serving(max_header_lines=8, max_header_bytes=1024, max_url_bytes=1024)
    assert clients().send(HEAD + lines(8) + b"\r\n").answer().status == 431
    assert clients().send(HEAD + b"X: " + b"v" * 1100 + b"\r\n\r\n").answer().status == 431
    assert clients().ask(b"/" + b"a" * 1100).status == 414
    assert clients().send(HEAD + lines(7) + b"\r\n").answer().status == 200


@pytest.mark.parametrize("begun", [HEAD, b"G", b"\r\n", HEAD + b"\r\n" + HEAD])
def test_a_head_that_does_not_end_in_time_is_rejected(serving: Serving, begun: bytes) -> None:
    clients = serving(header_timeout_s=1)
    client = clients().send(begun)
    answer = client.answer()
    if answer.status == 200:
        answer = client.send(b"X").answer()
    assert (answer.status, answer.code) == (408, "HEADERS_TOO_SLOW")
    assert client.is_closed()


def test_a_connection_without_a_request_is_closed(serving: Serving) -> None:
    clients = serving(header_timeout_s=1, keep_alive_timeout_s=1)
    silent, idle = clients(), clients()
    assert idle.ask(b"/healthz").status == 200
    assert silent.is_closed()
    assert idle.is_closed()


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"POST /q HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /q HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
        b"POST /query HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
        b"POST /query HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc",
        b"POST /query HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc",
        b"POST /query HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc",
        b"POST /query HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        b"POST /query HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        b"POST /query HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
        b"POST /query HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
        b"POST /query HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /query HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n",
        b"POST /query HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\na\n0\n\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: localhost\r\n\r\n",
        b"GET /healthz\r\n\r\n",
        b"GET /healthz HTTP/3.0\r\nHost: a\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
    ],
)
def test_what_may_be_read_in_two_ways_is_not_read_at_all(clients: Clients, request_bytes: bytes) -> None:
    client = clients()
    answer = client.send(request_bytes).answer()
    assert (answer.status, answer.code) == (400, "NOT_HTTP")
    assert client.is_closed()


def test_a_trailer_is_no_header(clients: Clients) -> None:
    body = b"%x\r\n%b\r\n0\r\nHost: evil.example\r\nX-Request-Id: trailer\r\n\r\n" % (len(QUERY), QUERY)
    head = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = clients().send(head + b"Transfer-Encoding: chunked\r\n\r\n" + body).answer()
    assert answer.status == 200
    assert answer.headers["x-request-id"] != "trailer"


@pytest.mark.parametrize("offered", [b"h2c", b"websocket", b"TLS/1.2"])
def test_another_protocol_that_is_offered_is_let_be(clients: Clients, offered: bytes) -> None:
    offer = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: %b\r\nHTTP2-Settings: AAMAAABk" % offered
    client = clients()
    # The bytes after the head are its body, and never another request.
    assert client.send(post(b"/query", QUERY, offer)).answer().status == 200
    assert client.ask(b"/healthz").status == 200


def test_requests_may_wait_behind_one_another(serving: Serving) -> None:
    client = serving(max_pipelined_requests=4)().send((HEAD + b"\r\n") * 5)
    assert [client.answer().status for _ in range(5)] == [200] * 5
    assert client.ask(b"/healthz").status == 200


def test_no_more_than_so_many_requests_wait_behind_one_another(serving: Serving) -> None:
    client = serving(max_pipelined_requests=4)().send((HEAD + b"\r\n") * 1000)
    assert [client.answer().status for _ in range(5)] == [200] * 5
    assert client.is_closed()


def test_a_bad_request_is_refused_after_the_answers_to_those_before_it(clients: Clients) -> None:
    client = clients().send(HEAD + b"\r\n" + HEAD + b"\r\nnonsense\r\n\r\n")
    assert [client.answer().status for _ in range(3)] == [200, 200, 400]
    assert client.is_closed()


@pytest.mark.parametrize(
    "chunks",
    [
        b"1;%b\r\na\r\n" % (b"e" * 200_000),
        b"".join(b"1;%b\r\na\r\n" % (b"e" * 1000) for _ in range(1000)),
        b"1\r\na\r\n0\r\n" + b"T: %b\r\n" % (b"v" * 200_000),
        b"1\r\na\r\n0\r\n" + b"T: v\r\n" * 200,
    ],
)
def test_chunks_are_mostly_what_they_hold(clients: Clients, chunks: bytes) -> None:
    head = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    client = clients().send(head + b"Transfer-Encoding: chunked\r\n\r\n")
    client.send_until_closed(chunks, 10)
    assert client.answer().status in (400, 431)


def test_a_request_is_the_same_however_it_is_cut_into_packets(clients: Clients) -> None:
    chunked = b"5\r\n%b\r\n%x;e=1\r\n%b\r\n0\r\nT: v\r\n\r\n" % (QUERY[:5], len(QUERY) - 5, QUERY[5:])
    head = b"POST /query HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    whole = post(b"/query", QUERY) + HEAD + b"\r\n"
    in_chunks = head + b"Transfer-Encoding: chunked\r\n\r\n" + chunked + HEAD + b"\r\n"

    @settings(max_examples=100, deadline=None)
    @given(some.lists(some.integers(1, 400), max_size=12), some.sampled_from([whole, in_chunks]))
    def check(cuts: list[int], sent: bytes) -> None:
        places = sorted({0, len(sent), *(cut for cut in cuts if cut < len(sent))})
        with clients() as client:
            for begin, end in itertools.pairwise(places):
                client.send(sent[begin:end])
            first, second = client.answer(), client.answer()
        assert (first.status, second.status) == (200, 200)
        assert json.loads(first.body)["status"]["state"] == "SUCCEEDED"

    check()
