"""Tests what happens to a query when nobody waits for it any more."""

from __future__ import annotations

import json
from uuid import uuid4

import httpx
import pytest

from sluice_client import IngestFailed, NotFound, TimedOut, Timeouts, connect
from tests.client.gateways import Served
from tests.client.hostile_server import answer, hostile, ingest_answer, succeeded
from tests.client.test_retries import FakeTime
from tests.client.transports import LossyTransport


class Impatience(FakeTime):
    """Time that passes whenever it is read: ten seconds each."""

    def now(self) -> float:
        self.now_s += 10
        return self.now_s


@pytest.mark.parametrize("method", ["POST", "GET"])
def test_ctrl_c_cancels_the_query(gateway: Served, method: str) -> None:
    gateway.queries.unfinished.add("SELECT 1")
    pressed: list[str] = []

    def press(request: httpx.Request, number: int) -> bool:  # noqa: ARG001
        if request.method == method and not pressed:
            pressed.append(method)
            raise KeyboardInterrupt
        return False

    transport = LossyTransport(press)
    with (
        connect(gateway.url, transport=transport, timeouts=Timeouts(poll_s=0.01)) as connection,
        pytest.raises(KeyboardInterrupt),
    ):
        connection.query("SELECT 1")
    assert [query.record.state for query in gateway.queries.by_id.values()] == ["CANCELED"]


def cancellations(transport: LossyTransport) -> list[tuple[str, str]]:
    return [(request.method, request.url.path) for request in transport.requests[1:]]


def test_ctrl_c_before_the_id_is_known_cancels_by_the_request_id(gateway: Served) -> None:
    gateway.queries.unfinished.add("SELECT 1")
    transport = LossyTransport(interrupted_first)
    with connect(gateway.url, transport=transport) as connection, pytest.raises(KeyboardInterrupt):
        connection.query("SELECT 1")
    [query] = gateway.queries.by_id.values()
    assert query.record.state == "CANCELED"
    assert cancellations(transport) == [("DELETE", "/query")]
    assert transport.requests[1].url.params["requestId"] == str(query.request.request_id)


def interrupted_first(request: httpx.Request, number: int) -> bool:  # noqa: ARG001
    if number == 0:
        raise KeyboardInterrupt
    return False


class NeverSent(LossyTransport):
    """Ctrl-C comes before the first request is on its way; that request arrives late."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if self.requests:
            return super().handle_request(request)
        request.read()
        self.requests.append(request)
        raise KeyboardInterrupt


def test_a_query_that_has_not_arrived_when_it_is_canceled_never_runs(gateway: Served) -> None:
    gateway.queries.unfinished.add("SELECT 1")
    transport = NeverSent(lambda _request, _number: False)
    with connect(gateway.url, transport=transport) as connection, pytest.raises(KeyboardInterrupt):
        connection.query("SELECT 1")
    assert cancellations(transport) == [("DELETE", "/query"), ("POST", "/query")]
    late = transport.requests[0]
    again = httpx.post(late.url, content=late.content, headers={"Content-Type": "application/json"})
    assert again.json()["status"]["state"] == "CANCELED"
    assert [query.record.state for query in gateway.queries.by_id.values()] == ["CANCELED"]


def test_a_query_can_be_canceled_by_its_request_id(gateway: Served) -> None:
    gateway.queries.unfinished.add("SELECT 1")
    request_id = uuid4()
    with connect(gateway.url) as connection:
        with pytest.raises(NotFound):
            connection.cancel_request(request_id)
        status = connection.submit("SELECT 1", request_id=request_id)
        connection.cancel_request(request_id)
        connection.cancel_request(request_id)
        assert connection.status(status.query_id).state == "CANCELED"


def test_a_query_that_takes_longer_than_the_client_waits_is_canceled(gateway: Served) -> None:
    gateway.queries.unfinished.add("SELECT 1")
    time = Impatience()
    timeouts = Timeouts(query_s=1, poll_s=0.01)
    with (
        connect(gateway.url, now=time.now, timeouts=timeouts) as connection,
        pytest.raises(TimedOut, match="within 1 s") as raised,
    ):
        connection.query("SELECT 1")
    [query_id] = gateway.queries.by_id
    assert raised.value.query_id == query_id
    assert gateway.queries.by_id[query_id].record.state == "CANCELED"


def test_a_gateway_that_does_not_wait_is_not_asked_all_the_time() -> None:
    time = FakeTime()
    running = succeeded(
        status={"state": "RUNNING", "error": None, "queuedMs": 0, "elapsedMs": 1}, manifest=None
    )
    with (
        hostile(running) as server,
        connect(server.url, now=time.now, sleep=time.sleep, timeouts=Timeouts(query_s=1)) as connection,
        pytest.raises(TimedOut),
    ):
        connection.query("SELECT 1")
    # One to send it, one to cancel it, and ten looks in a second.
    assert 10 <= len(server.requests) <= 14


def test_an_ingest_whose_commit_takes_too_long_goes_on() -> None:
    time = FakeTime()
    accepted = json.dumps(ingest_answer("ACCEPTED")).encode()
    with (
        hostile(answer(accepted, 202)) as server,
        connect(server.url, now=time.now, sleep=time.sleep, timeouts=Timeouts(commit_s=10)) as connection,
        pytest.raises(TimedOut, match="do not send it again") as raised,
    ):
        connection.ingest("lake.logs.events", [{"user_id": 1}])
    assert str(raised.value.ingest_id) == ingest_answer("ACCEPTED")["ingestId"]
    assert 5 < sum(time.pauses) <= 10


def test_a_commit_is_awaited_in_one_request_if_the_gateway_waits() -> None:
    time = FakeTime()
    accepted, committed = (json.dumps(ingest_answer(state)).encode() for state in ("ACCEPTED", "COMMITTED"))
    with (
        hostile(answer(accepted, 202), answer(committed)) as server,
        connect(server.url, now=time.now, sleep=time.sleep, timeouts=Timeouts(commit_s=7)) as connection,
    ):
        assert connection.ingest("lake.logs.events", [{"user_id": 1}]).state == "COMMITTED"
    assert time.pauses == []
    assert len(server.requests) == 2
    # No longer than the caller waits, and than one request may take.
    assert b"waitTimeout=7000ms" in server.requests[1]


def test_a_gateway_that_does_not_wait_for_a_commit_is_not_asked_all_the_time() -> None:
    time = FakeTime()
    accepted, committed = (json.dumps(ingest_answer(state)).encode() for state in ("ACCEPTED", "COMMITTED"))
    answers = [answer(accepted, 202)] * 4
    with (
        hostile(*answers, answer(committed)) as server,
        connect(server.url, now=time.now, sleep=time.sleep) as connection,
    ):
        assert connection.ingest("lake.logs.events", [{"user_id": 1}]).state == "COMMITTED"
    assert time.pauses == [0.2, 0.4, 0.8]
    assert b"waitTimeout=20000ms" in server.requests[1]


def test_an_ingest_that_fails_after_its_acceptance_is_an_error() -> None:
    accepted, failed = (json.dumps(ingest_answer(state)).encode() for state in ("ACCEPTED", "FAILED"))
    with (
        hostile(answer(accepted, 202), answer(failed)) as server,
        connect(server.url, sleep=lambda _: None) as connection,
        pytest.raises(IngestFailed, match="a column is gone") as raised,
    ):
        connection.ingest("lake.logs.events", [{"user_id": 1}])
    assert raised.value.code == "TABLE_CHANGED"
    assert len(raised.value.commits) == 1
