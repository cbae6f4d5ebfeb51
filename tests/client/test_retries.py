"""Tests which requests are sent again, how often, after which time, and that they have one effect."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from sluice_client import (
    Connection,
    ConnectionFailed,
    NotAuthenticated,
    RetryPolicy,
    SluiceError,
    Timeouts,
    TooBusy,
    Unavailable,
    UnexpectedAnswer,
    connect,
    errors,
)
from sluice_client.connecting import ConnectOptions
from tests.client.gateways import Served
from tests.client.hostile_server import answer, hostile, problem, succeeded
from tests.client.transports import LossyTransport

TABLE = "lake.logs.events"


class FakeTime:
    """Time that passes only during sleep."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.pauses: list[float] = []

    def now(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now_s += seconds


def timed(url: str, time: FakeTime, **options: Any) -> Connection:
    return connect(url, now=time.now, sleep=time.sleep, **options)


def is_post(request: httpx.Request, number: int) -> bool:
    return request.method == "POST" and number == 0


def test_a_query_whose_answer_is_lost_runs_once(gateway: Served) -> None:
    transport = LossyTransport(is_post)
    with connect(gateway.url, transport=transport, sleep=lambda _: None) as connection:
        result = connection.query("SELECT 1 AS n")
        assert result.facts.was_sent_before
        assert result.rows() == [(1,)]
    assert len(gateway.queries.by_id) == 1
    first, second = (request for request in transport.requests if request.method == "POST")
    assert first.read() == second.read()


@pytest.mark.parametrize(
    "data",
    [lambda: [{"user_id": 1}], lambda: iter([{"user_id": 1}])],
    ids=["a list", "a generator"],
)
def test_an_ingest_whose_answer_is_lost_is_written_once(gateway: Served, data: Callable[[], Any]) -> None:
    transport = LossyTransport(is_post)
    with connect(gateway.url, transport=transport, sleep=lambda _: None) as connection:
        result = connection.ingest(TABLE, data(), write_schema=["user_id"])
    assert gateway.written() == [{"user_id": 1}]
    posts = [request for request in transport.requests if request.method == "POST"]
    assert [post.url.params["requestId"] for post in posts] == [str(result.request_id)] * 2


def test_chunks_whose_answers_are_lost_are_read_again(gateway: Served) -> None:
    transport = LossyTransport(lambda request, number: request.method == "GET" and number % 2 == 1)
    with connect(gateway.url, transport=transport, sleep=lambda _: None) as connection:
        assert len(connection.query("SELECT range FROM range(5)").rows()) == 5


def test_a_network_that_loses_everything_ends_in_an_error_and_the_query_is_canceled(gateway: Served) -> None:
    gateway.queries.unfinished.add("SELECT 1")
    transport = LossyTransport(lambda _request, number: number < 3)
    options: ConnectOptions = {"retries": RetryPolicy(attempts=3), "timeouts": Timeouts(poll_s=0.01)}
    with (
        connect(gateway.url, transport=transport, sleep=lambda _: None, **options) as connection,
        pytest.raises(ConnectionFailed),
    ):
        connection.query("SELECT 1")
    # The fourth request has the same requestId, and cancels what the first began.
    assert len(transport.requests) == 4
    sent, canceled = json.loads(transport.requests[0].content), transport.requests[3]
    assert (canceled.method, canceled.url.path) == ("DELETE", "/query")
    assert canceled.url.params["requestId"] == sent["requestId"]
    assert [query.record.state for query in gateway.queries.by_id.values()] == ["CANCELED"]


def test_a_storm_of_503_is_survived() -> None:
    time = FakeTime()
    busy = problem("GATEWAY_BUSY", 503, retry_after=3)
    with hostile(busy, busy, busy, succeeded()) as server, timed(server.url, time) as connection:
        connection.query("SELECT 1")
    assert time.pauses == [3, 3, 3]


def test_a_storm_that_lasts_ends_after_the_attempts() -> None:
    time = FakeTime()
    with (
        hostile(problem("TOO_MANY_QUERIES", 429, retry_after=2)) as server,
        timed(server.url, time) as connection,
        pytest.raises(TooBusy) as raised,
    ):
        connection.query("SELECT 1")
    assert raised.value.retry_after_s == 2
    assert time.pauses == [2, 2, 2, 2]
    assert len(server.requests) == 5


def test_a_retry_that_would_end_after_the_total_time_is_not_begun() -> None:
    time = FakeTime()
    with (
        hostile(problem("QUERY_QUARANTINED", 503, retry_after=600)) as server,
        timed(server.url, time) as connection,
        pytest.raises(Unavailable),
    ):
        connection.query("SELECT 1")
    assert time.pauses == []
    assert len(server.requests) == 1


def test_delays_double_up_to_their_bound_with_jitter() -> None:
    time = FakeTime()
    policy = RetryPolicy(attempts=7, first_delay_s=1, max_delay_s=8, total_s=100)
    with (
        hostile(problem("GATEWAY_BUSY", 503)) as server,
        timed(server.url, time, retries=policy) as connection,
        pytest.raises(Unavailable),
    ):
        connection.query("SELECT 1")
    longest = [1, 2, 4, 8, 8, 8]
    assert len(time.pauses) == len(longest)
    assert all(bound / 2 <= pause <= bound for pause, bound in zip(time.pauses, longest, strict=True))


@pytest.mark.parametrize(
    ("bad", "kind", "requests"),
    [
        (problem("SQL_SYNTAX", 422), errors.SqlInvalid, 1),
        (problem("UNAUTHENTICATED", 401), NotAuthenticated, 1),
        (problem("TOO_MANY_FAILURES", 429, retry_after=1), TooBusy, 1),
        (problem("INTERNAL", 500), errors.GatewayFault, 1),
        (problem("ENGINE_LOST", 503, queryId="00000000-0000-0000-0000-000000000001"), errors.QueryFailed, 1),
        (problem("STORAGE_DOWN", 503), Unavailable, 5),
        (problem("BODY_TOO_SLOW", 408), errors.RequestInvalid, 5),
        (answer(b"bad gateway", 502, "text/plain"), UnexpectedAnswer, 5),
        (answer(b"no", 404, "text/plain"), UnexpectedAnswer, 1),
        (answer(b"", 301, Location="https://elsewhere"), UnexpectedAnswer, 1),
        (b"", ConnectionFailed, 5),
    ],
    ids=[
        *(
            "wrong SQL",
            "no credentials",
            "too many failures",
            "a fault",
            "an accepted query",
            "a part is down",
        ),
        *("a slow body", "a proxy", "another server", "a redirect", "a lost connection"),
    ],
)
def test_only_what_may_pass_is_sent_again(bad: bytes, kind: type[SluiceError], requests: int) -> None:
    time = FakeTime()
    with hostile(bad) as server, timed(server.url, time) as connection, pytest.raises(kind):
        connection.explain("SELECT 1")
    assert len(server.requests) == requests


def test_a_lost_replica_is_asked_again_under_the_same_request_id() -> None:
    lost = problem("REPLICA_LOST", 503, queryId="00000000-0000-0000-0000-000000000001")
    with hostile(lost, succeeded()) as server, timed(server.url, FakeTime()) as connection:
        connection.query("SELECT 1")
    bodies = [json.loads(request.partition(b"\r\n\r\n")[2]) for request in server.requests]
    assert bodies[0]["requestId"] == bodies[1]["requestId"]


def test_an_ingest_that_was_accepted_and_failed_is_not_sent_again() -> None:
    failed = problem("TABLE_CHANGED", 409, ingestId="00000000-0000-0000-0000-000000000001")
    with (
        hostile(failed) as server,
        timed(server.url, FakeTime()) as connection,
        pytest.raises(errors.IngestFailed) as raised,
    ):
        connection.ingest(TABLE, [{"user_id": 1}])
    assert len(server.requests) == 1
    assert raised.value.ingest_id is not None


@pytest.mark.parametrize("attempts", [0, -1])
def test_bounds_are_above_zero(attempts: int) -> None:
    with pytest.raises(ValueError, match="attempts"):
        RetryPolicy(attempts=attempts)
