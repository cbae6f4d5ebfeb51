"""Parts fail and recover; whatever does not need them continues."""

from __future__ import annotations

from uuid import uuid4

import httpx
import pytest

from tests.integration.asking import (
    JsonObject,
    ask,
    cancel,
    computing,
    explain,
    post,
    problem,
    readiness,
    rows,
    started,
    state,
    status,
)
from tests.integration.guarded import Guarded
from tests.integration.lakehouse import RETURNS, make, returns_row
from tests.integration.running import ENDLESS, SLOW, SLOW_ROWS
from tests.polling import until

pytestmark = pytest.mark.integration

FINAL = ("SUCCEEDED", "FAILED", "CANCELED")


def parts_that_are_not_up(answer: JsonObject) -> list[str]:
    return [name for name, part in answer["parts"].items() if part["state"] != "UP"]


def wait_until_ready(guarded: Guarded, within_s: float = 60) -> None:
    def is_ready() -> bool:
        code, answer = readiness(guarded.alice)
        return (code, answer["status"]) == (200, "READY")

    until(is_ready, within_s)


@pytest.fixture(autouse=True)
def ready_before_and_after(guarded: Guarded) -> None:
    """Waits until every part is up, whatever the previous test did."""
    wait_until_ready(guarded)


def test_all_parts_are_named_when_all_are_up(guarded: Guarded) -> None:
    code, answer = readiness(guarded.alice)
    assert (code, answer["status"]) == (200, "READY")
    others = {"metricsStore", "filterCache", "catalog:lake", "catalog:rest"}
    assert answer["parts"].keys() == {"engine", "queryWorkers"} | others


def test_a_killed_jvm_is_noticed_at_once_and_replaced_and_so_is_its_successor(guarded: Guarded) -> None:
    for _ in range(2):
        _live_through_a_killed_jvm(guarded)


def _live_through_a_killed_jvm(guarded: Guarded) -> None:
    alice, gateway = guarded.alice, guarded.running
    # Both are in the engine: a query that is lost alone is not run again.
    running = computing(alice, SLOW)
    beside = computing(guarded.bob, f"{SLOW} OFFSET 0")
    jvm = gateway.jvm()
    assert jvm is not None

    jvm.kill()

    def says_so() -> bool:
        code, answer = readiness(alice)
        return code == 503 and parts_that_are_not_up(answer) == ["engine"]

    until(says_so, within_s=5)
    assert alice.get("/healthz").status_code == 200
    # This takes the first final answer, as results expire soon here.
    ended = until(lambda: _final(status(alice, running, wait="10s")), within_s=150)
    assert ended is not None
    assert (ended["status"]["state"], ended["status"]["error"]) == ("SUCCEEDED", None)
    assert ended["result"]["rows"] == SLOW_ROWS
    until(lambda: state(guarded.bob, beside) == "SUCCEEDED", within_s=150)
    wait_until_ready(guarded, within_s=60)
    assert rows(alice, "SELECT count(*) FROM lake.shop.returns") == [[1]]
    assert rows(alice, "SELECT count(*) FROM rest.shop.returns") == [[1]]
    new = gateway.jvm()
    assert new is not None
    assert new.pid != jvm.pid
    assert gateway.process.poll() is None


def test_a_query_that_ran_alone_on_a_lost_engine_is_not_run_again_by_itself(guarded: Guarded) -> None:
    text = f"{ENDLESS} OFFSET 0"
    jvm = guarded.running.jvm()
    assert jvm is not None
    alone = computing(guarded.alice, text)
    jvm.kill()
    # Nothing else is sent before that: until the gateway notices the loss, the engine would run it too.
    ended = until(lambda: _final(status(guarded.alice, alone, wait="10s")), within_s=60)
    assert ended is not None
    error = ended["status"]["error"]
    assert error["code"] == "ENGINE_LOST"
    assert "nothing else did" in error["detail"]
    # A query that arrives in between is answered by the new engine.
    assert rows(guarded.bob, "SELECT 1 + 1") == [[2]]
    # Its sender may run it again, once.
    cancel(guarded.alice, started(guarded.alice, text))


def test_without_the_metrics_store_queries_run_and_their_records_wait(guarded: Guarded) -> None:
    alice, store = guarded.alice, guarded.store
    store.stop()
    try:
        answers = [ask(alice, f"SELECT return_id + {number} FROM lake.shop.returns") for number in range(3)]
        failed = problem(post(alice, "SELECT 1 / 0"), 422, "QUERY_FAILED")
        code, answer = readiness(alice)
        assert (code, answer["status"], parts_that_are_not_up(answer)) == (200, "DEGRADED", ["metricsStore"])
        assert explain(alice, answers[0]["queryId"])["scans"][0]["table"] == "lake.shop.returns"
        unknown = alice.get("/explain/00000000-0000-4000-8000-000000000000")
        problem(unknown, 503, "METRICS_STORE_DOWN")
    finally:
        store.start()
    wait_until_ready(guarded)
    for query_id in [answer["queryId"] for answer in answers] + [failed["queryId"]]:
        until(lambda query_id=query_id: _recorded(guarded, query_id), within_s=30)  # type: ignore[misc]
    counts = store.read("metrics", "SELECT count(*) FROM scans WHERE query_id = %s", answers[0]["queryId"])
    assert counts == [(1,)]


def test_without_the_filter_cache_queries_run(guarded: Guarded) -> None:
    guarded.cache.stop()
    try:
        code, answer = readiness(guarded.alice)
        assert (code, answer["status"], parts_that_are_not_up(answer)) == (200, "DEGRADED", ["filterCache"])
        assert rows(guarded.alice, "SELECT count(*) FROM lake.shop.returns") == [[1]]
    finally:
        guarded.cache.start()


def test_a_catalog_that_is_down_takes_only_its_own_tables_with_it(guarded: Guarded) -> None:
    alice = guarded.alice
    guarded.rest_server.stop()
    try:
        problem(alice.get("/tables/rest.shop.returns"), 503, "CATALOG_DOWN")
        _clear_failure(post(alice, "SELECT * FROM rest.shop.returns"))
        assert rows(alice, "SELECT count(*) FROM lake.shop.returns") == [[1]]
        code, answer = readiness(alice)
        assert (code, answer["status"], parts_that_are_not_up(answer)) == (200, "DEGRADED", ["catalog:rest"])
    finally:
        guarded.rest_server.start()
    wait_until_ready(guarded)
    assert rows(alice, "SELECT count(*) FROM rest.shop.returns") == [[1]]
    assert alice.get("/tables/rest.shop.returns").status_code == 200


def test_an_sql_catalog_that_was_restarted_works_again(guarded: Guarded) -> None:
    alice = guarded.alice
    guarded.lake_server.stop()
    try:
        _clear_failure(post(alice, "SELECT * FROM lake.shop.returns"))
        assert rows(alice, "SELECT count(*) FROM rest.shop.returns") == [[1]]
        _, answer = readiness(alice)
        assert parts_that_are_not_up(answer) == ["catalog:lake"]
    finally:
        guarded.lake_server.start()
    wait_until_ready(guarded)
    assert rows(alice, "SELECT count(*) FROM lake.shop.returns") == [[1]]


def test_an_engine_that_starts_while_a_catalog_is_down_finds_it_later(guarded: Guarded) -> None:
    guarded.rest_server.stop()
    try:
        jvm = guarded.running.jvm()
        assert jvm is not None
        jvm.kill()
        # Before the loss is noticed, a query would be lost with the engine.
        until(lambda: readiness(guarded.alice)[0] == 503)
        assert rows(guarded.alice, "SELECT count(*) FROM lake.shop.returns") == [[1]]
    finally:
        guarded.rest_server.start()
    wait_until_ready(guarded)
    assert rows(guarded.alice, "SELECT count(*) FROM rest.shop.returns") == [[1]]


def _recorded(guarded: Guarded, query_id: str) -> bool:
    found = guarded.store.read("metrics", "SELECT state FROM queries WHERE query_id = %s", query_id)
    return len(found) == 1


def _final(answer: JsonObject) -> JsonObject | None:
    return answer if answer["status"]["state"] in FINAL else None


def _clear_failure(response: httpx.Response) -> None:
    assert len(problem(response, 503, "CATALOG_DOWN")["detail"]) < 300


def test_ingests_wait_for_the_metrics_store_or_are_refused_and_none_is_lost(guarded: Guarded) -> None:
    alice, request_id = guarded.alice, str(uuid4())
    table = make(guarded.lake, f"shop.notes_{uuid4().hex[:8]}", RETURNS)
    body = {
        "table": f"lake.{'.'.join(table.name())}",
        "records": returns_row(1).to_pylist(),
        "requestId": request_id,
    }
    guarded.store.stop()
    try:
        refused = alice.post("/ingest", json=body)
        assert (refused.status_code, refused.json()["code"]) == (503, "METRICS_STORE_DOWN")
    finally:
        guarded.store.start()
    wait_until_ready(guarded)
    sent = [alice.post("/ingest", json=body).json() for _ in range(2)]
    assert [answer["state"] for answer in sent] == ["COMMITTED", "COMMITTED"]
    assert sent[0]["ingestId"] == sent[1]["ingestId"]
    table.refresh()
    assert len(table.scan().to_arrow()) == 1
