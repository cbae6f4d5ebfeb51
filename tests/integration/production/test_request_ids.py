"""The same requestId from the same caller is the same query."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import httpx
import pytest

from tests.integration.asking import ask, post, problem
from tests.integration.guarded import Guarded
from tests.polling import until

pytestmark = pytest.mark.integration


def test_the_same_id_gives_the_same_query(gateway: httpx.Client) -> None:
    request_id = str(uuid4())
    first = ask(gateway, "SELECT rand() AS r", requestId=request_id)
    second = ask(gateway, "SELECT rand() AS r", requestId=request_id)
    assert (first["sentBefore"], second["sentBefore"]) == (False, True)
    assert (first["queryId"], first["result"]) == (second["queryId"], second["result"])


@pytest.mark.parametrize("change", [{"sql": "SELECT 2"}, {"rowLimit": 5}, {"catalog": "lake"}])
def test_the_same_id_with_another_body_is_refused(gateway: httpx.Client, change: dict[str, object]) -> None:
    body: dict[str, object] = {"sql": "SELECT 1 + 1", "requestId": str(uuid4())}
    assert gateway.post("/query", json=body).status_code == 200
    changed = gateway.post("/query", json=body | change)
    problem(changed, 409, "REQUEST_ID_REUSED")


def test_many_at_once_run_it_once(gateway: httpx.Client) -> None:
    request_id = str(uuid4())
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ask(gateway, "SELECT uuid()", requestId=request_id), range(16)))
    assert len({answer["queryId"] for answer in answers}) == 1
    assert len({str(answer["result"]["rows"]) for answer in answers}) == 1
    assert sum(not answer["sentBefore"] for answer in answers) == 1


def test_a_failed_query_is_not_run_again(gateway: httpx.Client) -> None:
    request_id = str(uuid4())
    first = problem(post(gateway, "SELECT 1 / 0", requestId=request_id), 422, "QUERY_FAILED")
    second = problem(post(gateway, "SELECT 1 / 0", requestId=request_id), 422, "QUERY_FAILED")
    assert first["queryId"] == second["queryId"]


def test_each_caller_has_ids_of_their_own(guarded: Guarded) -> None:
    request_id = str(uuid4())
    of_alice = ask(guarded.alice, "SELECT 1", requestId=request_id)
    of_bob = ask(guarded.bob, "SELECT 2", requestId=request_id)
    assert of_alice["queryId"] != of_bob["queryId"]
    assert (of_alice["sentBefore"], of_bob["sentBefore"]) == (False, False)


def test_an_id_is_known_when_the_gateway_has_forgotten_the_query(guarded: Guarded) -> None:
    request_id = str(uuid4())
    first = ask(guarded.alice, "SELECT 3", requestId=request_id)
    chunk = f"/query/{first['queryId']}/chunks/0"
    until(lambda: guarded.alice.get(chunk).status_code == 410, within_s=20)
    again = problem(post(guarded.alice, "SELECT 3", requestId=request_id), 410, "RESULT_EXPIRED")
    assert again["queryId"] == first["queryId"]
    problem(post(guarded.alice, "SELECT 4", requestId=request_id), 409, "REQUEST_ID_REUSED")
