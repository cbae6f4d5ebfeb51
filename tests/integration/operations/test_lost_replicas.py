"""One of two gateways is paused and then killed: what the other one says of its queries."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.asking import JsonObject, ask, cancel, explain, post, problem, start, started, status
from tests.integration.replicas import Replicas, killed, replicas
from tests.integration.running import ENDLESS, SLOW, RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

LOST_AFTER_S = 6
SETTINGS = {
    "SLUICE_REPLICA_HEARTBEAT_INTERVAL_S": "1",
    "SLUICE_REPLICA_LOST_AFTER_S": str(LOST_AFTER_S),
}
# With these settings, a gateway is lost within 20 + 3 s; on a busy machine it takes longer.
WITHIN_S = 30


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[Replicas]:
    with replicas(folder / "lost", SETTINGS) as made:
        # By now, `there` has run for long enough to declare others lost.
        time.sleep(LOST_AFTER_S)
        yield made


def code(gateway: RunningGateway, query_id: str) -> str | None:
    error: JsonObject | None = status(gateway.client, query_id)["status"]["error"]
    return error["code"] if error else None


@pytest.mark.timeout(600)
def test_any_replica_answers_for_a_query_wherever_it_runs(both: Replicas) -> None:
    query_id = started(both.here.client, ENDLESS)
    found = status(both.there.client, query_id)
    until(lambda: status(both.there.client, query_id)["status"]["state"] == "RUNNING")
    assert found["queryId"] == query_id
    # Its replica reports how far it is.
    until(lambda: status(both.there.client, query_id)["status"]["progress"] is not None)
    explained = explain(both.there.client, query_id)
    assert (explained["state"], explained["progress"]["phase"]) == ("RUNNING", "RUNNING")
    # A caller that waits at `there` gets the answer when the query ends at `here`.
    assert cancel(both.there.client, query_id)["status"]["state"] == "CANCELED"
    until(lambda: status(both.here.client, query_id)["status"]["state"] == "CANCELED")

    ended = start(both.here.client, SLOW)
    waited = status(both.there.client, ended, wait="50s")
    assert (waited["status"]["state"], waited["result"]) == ("SUCCEEDED", None)


@pytest.mark.timeout(600)
def test_the_events_of_a_query_elsewhere_are_its_states_and_its_end(both: Replicas) -> None:
    query_id = started(both.here.client, ENDLESS)
    with both.there.client.stream("GET", f"/query/{query_id}/events") as answer:
        lines = answer.iter_lines()
        names = [next(line for line in lines if line.startswith("event: "))]
        cancel(both.here.client, query_id)
        rest = [line for line in lines if line.startswith(("event: ", "data: "))]
    names += [line for line in rest if line.startswith("event: ")]
    assert set(names[:-1]) <= {"event: state", "event: progress"}
    assert names[-1] == "event: done"
    assert '"state":"CANCELED"' in rest[-1]


@pytest.mark.timeout(600)
def test_a_replica_that_comes_back_holds_to_what_others_have_said(both: Replicas) -> None:
    query_id = started(both.here.client, ENDLESS)
    both.here.process.send_signal(signal.SIGSTOP)
    try:
        until(lambda: code(both.there, query_id) == "REPLICA_LOST", WITHIN_S + LOST_AFTER_S)
    finally:
        both.here.process.send_signal(signal.SIGCONT)
    until(lambda: code(both.here, query_id) == "REPLICA_LOST", WITHIN_S)
    assert code(both.there, query_id) == "REPLICA_LOST"
    # The gateway still runs, and its engine has a free slot again.
    assert ask(both.here.client, "SELECT 1")["result"]["rows"] == [[1]]


@pytest.mark.timeout(600)
def test_the_queries_of_a_replica_that_was_killed_are_lost_and_can_be_sent_again(both: Replicas) -> None:
    request_id = "9f0c1c1e-5c0b-4a52-9a5e-8a3a3f3f7d10"
    query_id = start(both.here.client, ENDLESS, requestId=request_id)
    until(lambda: status(both.there.client, query_id)["status"]["state"] == "RUNNING")
    killed(both.here)
    began = time.monotonic()
    until(lambda: code(both.there, query_id) == "REPLICA_LOST", WITHIN_S)
    print(f"\nREPLICA_LOST {time.monotonic() - began:.1f} s after kill -9")  # noqa: T201
    found = status(both.there.client, query_id)
    assert found["status"]["state"] == "FAILED"
    assert explain(both.there.client, query_id)["error"]["code"] == "REPLICA_LOST"
    listed = both.there.client.get("/query", params={"state": "FAILED"}).json()["queries"]
    assert query_id in {query["queryId"] for query in listed}
    # Its `requestId` now starts another query.
    again = post(both.there.client, ENDLESS, requestId=request_id, waitTimeout="0s").json()
    assert (again["sentBefore"], again["queryId"] == query_id) == (False, False)
    cancel(both.there.client, again["queryId"])
    problem(both.there.client.get(f"/query/{query_id}/chunks/0"), 404, "CHUNK_NOT_FOUND")
