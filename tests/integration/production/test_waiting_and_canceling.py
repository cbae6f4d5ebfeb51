"""Long polling, timeouts and cancellation."""

from __future__ import annotations

import time
from collections.abc import Iterator

import httpx
import pytest

from tests.integration.asking import (
    ask,
    cancel,
    computing,
    explain,
    post,
    problem,
    rows,
    start,
    started,
    state,
    status,
)
from tests.integration.guarded import MAX_QUEUED, WORKERS, Guarded
from tests.integration.running import ENDLESS, SLOW, SLOW_ROWS
from tests.polling import until

pytestmark = pytest.mark.integration


@pytest.fixture
def blocked(guarded: Guarded) -> Iterator[httpx.Client]:
    """Alice's client, while all workers of the gateway are busy."""
    busy = [started(guarded.alice, ENDLESS) for _ in range(WORKERS)]
    yield guarded.alice
    for query_id in busy:
        cancel(guarded.alice, query_id)


def test_a_wait_of_no_time_is_answered_at_once_and_the_answer_can_be_fetched(gateway: httpx.Client) -> None:
    response = gateway.post("/query", json={"sql": SLOW, "waitTimeout": "0s"})
    answer = response.json()
    assert (response.status_code, answer["manifest"], answer["result"]) == (202, None, None)
    assert answer["status"]["state"] in ("QUEUED", "RUNNING")

    finished = gateway.get(answer["links"]["self"], params={"waitTimeout": "50s"})
    assert (finished.status_code, finished.json()["result"]["rows"]) == (200, SLOW_ROWS)
    assert finished.json()["queryId"] == answer["queryId"]
    assert finished.json()["status"]["elapsedMs"] >= answer["status"]["elapsedMs"]


def test_a_wait_that_ends_first_leaves_the_query_running(gateway: httpx.Client) -> None:
    response = post(gateway, ENDLESS, waitTimeout="200ms")
    query_id = response.json()["queryId"]
    assert (response.status_code, state(gateway, query_id)) == (202, "RUNNING")
    cancel(gateway, query_id)


def test_on_request_the_query_ends_with_the_wait(gateway: httpx.Client) -> None:
    response = post(gateway, ENDLESS, waitTimeout="500ms", onWaitTimeout="CANCEL")
    answer = response.json()
    assert (response.status_code, answer["status"]["state"]) == (200, "CANCELED"), response.text
    assert answer["status"]["error"]["code"] == "QUERY_CANCELED"


def test_canceling_twice_is_fine(gateway: httpx.Client) -> None:
    query_id = started(gateway, ENDLESS)
    first, second = cancel(gateway, query_id), cancel(gateway, query_id)
    assert first["status"]["state"] == second["status"]["state"] == "CANCELED"
    problem(gateway.get(f"/query/{query_id}/chunks/0"), 404, "CHUNK_NOT_FOUND")
    assert explain(gateway, query_id)["state"] == "CANCELED"


def test_a_query_that_has_ended_is_not_canceled(gateway: httpx.Client) -> None:
    answer = ask(gateway, "SELECT 1")
    assert cancel(gateway, answer["queryId"])["status"]["state"] == "SUCCEEDED"


def test_canceling_stops_the_work_itself(gateway: httpx.Client) -> None:
    for _ in range(8):
        # There are more queries than workers and cores, so one that still ran would block others.
        cancel(gateway, computing(gateway, ENDLESS))
    assert rows(gateway, "SELECT count(*) FROM range(1000) WHERE id < 10") == [[10]]


def test_whoever_waits_hears_of_a_cancellation(gateway: httpx.Client) -> None:
    query_id = started(gateway, ENDLESS)
    gateway.delete(f"/query/{query_id}")
    assert status(gateway, query_id, wait="30s")["status"]["state"] == "CANCELED"


def test_a_timeout_ends_the_query(gateway: httpx.Client) -> None:
    found = problem(post(gateway, ENDLESS, timeout="700ms"), 504, "QUERY_TIMED_OUT")
    answer = status(gateway, found["queryId"])
    assert (answer["status"]["state"], answer["status"]["error"]["code"]) == ("FAILED", "QUERY_TIMED_OUT")
    assert explain(gateway, found["queryId"])["error"]["code"] == "QUERY_TIMED_OUT"


def test_an_unknown_query_is_not_found(gateway: httpx.Client) -> None:
    unknown = "00000000-0000-4000-8000-000000000000"
    for method, path in (("GET", "/query/"), ("DELETE", "/query/"), ("GET", "/explain/")):
        problem(gateway.request(method, path + unknown), 404, "QUERY_NOT_FOUND")
    problem(gateway.get(f"/query/{unknown}/chunks/0"), 404, "QUERY_NOT_FOUND")
    problem(gateway.get("/query/not-an-id"), 422, "INVALID_REQUEST")


def test_a_query_that_waits_can_be_canceled(blocked: httpx.Client) -> None:
    query_id = start(blocked, "SELECT 1")
    assert state(blocked, query_id) == "QUEUED"
    answer = cancel(blocked, query_id)
    assert (answer["status"]["state"], answer["status"]["error"]["code"]) == ("CANCELED", "QUERY_CANCELED")
    assert explain(blocked, query_id)["state"] == "CANCELED"


def test_a_query_that_waits_too_long_times_out(blocked: httpx.Client) -> None:
    problem(post(blocked, "SELECT 1", timeout="300ms"), 504, "QUERY_TIMED_OUT")


def test_more_than_may_wait_are_sent_away_at_once(blocked: httpx.Client) -> None:
    waiting = [start(blocked, "SELECT 1") for _ in range(MAX_QUEUED)]
    refused = post(blocked, "SELECT 1")
    problem(refused, 429, "TOO_MANY_QUERIES")
    assert int(refused.headers["Retry-After"]) >= 1
    cancel(blocked, waiting[0])
    waiting[0] = start(blocked, "SELECT 1")
    assert {state(blocked, query_id) for query_id in waiting} == {"QUEUED"}
    for query_id in waiting:
        cancel(blocked, query_id)


def test_probes_are_answered_while_every_worker_is_busy(blocked: httpx.Client) -> None:
    before = time.monotonic()
    assert blocked.get("/healthz").json() == {"status": "UP"}
    assert blocked.get("/readyz").status_code == 200
    assert time.monotonic() - before < 5


def test_a_client_that_hangs_up_leaves_its_query_alone(gateway: httpx.Client) -> None:
    request_id = "3f0c1a54-91b1-4b0e-b7f4-94d9b0a6c001"
    with pytest.raises(httpx.ReadTimeout):
        gateway.post("/query", json={"sql": SLOW, "requestId": request_id}, timeout=0.5)
    answer = until(lambda: post(gateway, SLOW, requestId=request_id).json())
    assert answer["sentBefore"]
    assert status(gateway, answer["queryId"], wait="50s")["result"]["rows"] == SLOW_ROWS
