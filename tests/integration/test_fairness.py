"""Callers share a gateway: short queries pass long ones, floods end, budgets hold."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

from tests.deploy.strict_exposition import families
from tests.integration.asking import ask, cancel, post, problem, start, started, state, status
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

TOKENS = {name: f"{name}s-token-4711" for name in ("heavy", "another", "light", "flood", "etl")}
# Thousands of tasks of about a second each: cores become free all the time.
HEAVY = "SELECT sum(hash(id)) AS s FROM range(0, 1000000000000, 1, 10000)"
WORKERS, MAX_QUEUED = 4, 100
T = TypeVar("T")
GROUPS = {
    "rootGroups": [
        {
            "name": "global",
            "hardConcurrencyLimit": 7,
            "longConcurrencyLimit": 5,
            "maxQueued": 400,
            "subGroups": [
                {
                    "name": "${USER}",
                    "hardConcurrencyLimit": 6,
                    "longConcurrencyLimit": 4,
                    "maxQueued": MAX_QUEUED,
                },
                {
                    "name": "etl",
                    "hardConcurrencyLimit": 2,
                    "maxQueued": 10,
                    "hardCpuLimit": "200ms",
                    "whenExhausted": "REFUSE",
                },
            ],
        }
    ],
    "selectors": [
        {"user": "etl", "tags": {"kind": "budget"}, "group": "global.etl"},
        {"group": "global.${USER}"},
    ],
}


@pytest.fixture(scope="module")
def house(folder: Path) -> Iterator[RunningGateway]:
    hashes = {caller: hashlib.sha256(token.encode()).hexdigest() for caller, token in TOKENS.items()}
    settings = {
        "SLUICE_SPARK_MASTER": "local[2]",
        "SLUICE_SPARK_DRIVER_MEMORY": "1g",
        "SLUICE_QUERY_WORKERS": str(WORKERS),
        "SLUICE_MAX_QUEUED_QUERIES": str(MAX_QUEUED),
        "SLUICE_API_TOKENS": json.dumps(hashes),
        "SLUICE_RESOURCE_GROUPS": json.dumps(GROUPS),
        # Most of the flood is long by this bound, and yet costs little.
        "SLUICE_SHORT_QUERY_MAX_BYTES": "100000",
    }
    running = RunningGateway.start(folder / "fairness", settings, within_s=300)
    yield running
    running.stop()


@pytest.fixture(scope="module")
def clients(house: RunningGateway) -> Iterator[dict[str, httpx.Client]]:
    made = {caller: house.client_with(token) for caller, token in TOKENS.items()}
    yield made
    for client in made.values():
        client.close()


@pytest.fixture
def busy(clients: dict[str, httpx.Client]) -> Iterator[list[tuple[httpx.Client, str]]]:
    """Heavy queries on all workers, four of one caller and one of another."""
    callers = [clients["heavy"]] * WORKERS + [clients["another"]]
    running = [(client, started(client, HEAVY)) for client in callers]
    yield running
    for client, query_id in running:
        cancel(client, query_id)


def test_heavy_queries_on_all_workers_do_not_hold_up_another_callers_select_1(
    clients: dict[str, httpx.Client], busy: list[tuple[httpx.Client, str]]
) -> None:
    light = clients["light"]
    for _ in range(50):
        ask(light, "SELECT 1")
    # They have begun and ended while every long place was taken.
    assert {state(client, query_id) for client, query_id in busy} == {"RUNNING"}


def test_a_short_query_with_tasks_gets_a_core_though_heavy_ones_have_thousands_waiting(
    clients: dict[str, httpx.Client], busy: list[tuple[httpx.Client, str]]
) -> None:
    counted = ask(clients["light"], "SELECT count(*) FROM range(0, 1000, 1, 2) WHERE id % 3 = 1")
    assert counted["result"]["rows"] == [[333]]
    assert {state(client, query_id) for client, query_id in busy} == {"RUNNING"}


def test_a_heavy_query_that_waits_says_where_until_it_runs(
    clients: dict[str, httpx.Client], busy: list[tuple[httpx.Client, str]]
) -> None:
    first, second = start(clients["another"], HEAVY), start(clients["another"], HEAVY)

    def place(query_id: str) -> dict[str, Any] | None:
        found: dict[str, Any] | None = status(clients["another"], query_id)["status"]["queue"]
        return found if found is not None and found["position"] > 0 else None

    places = _found(lambda: place(first)), _found(lambda: place(second))
    assert [one["position"] for one in places] == [1, 2]
    assert {one["group"] for one in places} == {"global.another"}
    assert state(clients["another"], first) == "QUEUED"
    assert cancel(clients["another"], first)["status"]["state"] == "CANCELED"
    assert _found(lambda: place(second))["position"] == 1
    client, running = busy.pop()
    cancel(client, running)
    until(lambda: state(clients["another"], second) == "RUNNING")
    assert status(clients["another"], second)["status"]["queue"] is None
    cancel(clients["another"], second)


def test_a_flood_of_a_thousand_ends_with_each_query_answered_or_refused(
    clients: dict[str, httpx.Client],
) -> None:
    def send(number: int) -> str | None:
        text = "SELECT 1" if number % 2 else f"SELECT count(*) FROM range({number}, 300000, 1, 2)"
        client = clients["flood"] if number % 4 else clients["heavy"]
        sent = client.post("/query", json={"sql": text, "waitTimeout": "0s", "timeout": "1800s"})
        if sent.status_code == 429:
            assert int(sent.headers["Retry-After"]) >= 1
            assert sent.json()["code"] == "TOO_MANY_QUERIES"
            return None
        query_id: str = sent.json()["queryId"]
        return query_id

    with ThreadPoolExecutor(8) as threads:
        queries = list(threads.map(send, range(1000)))

    def ended(number: int) -> str:
        query_id = queries[number]
        if query_id is None:
            return "REFUSED"
        client = clients["flood"] if number % 4 else clients["heavy"]
        return _found(lambda: _final(client, query_id), within_s=300)

    with ThreadPoolExecutor(4) as threads:
        states = Counter(threads.map(ended, range(1000)))
    assert states["SUCCEEDED"] + states["REFUSED"] == 1000, states
    assert states["SUCCEEDED"] >= MAX_QUEUED
    # Nothing of it is left.
    until(lambda: _waiting(clients["light"]) == 0)
    ask(clients["light"], "SELECT 1")


def test_a_group_that_has_used_up_its_cpu_time_is_refused_with_the_time_to_come_back(
    clients: dict[str, httpx.Client],
) -> None:
    etl = clients["etl"]
    ask(etl, "SELECT sum(hash(id)) AS s FROM range(0, 150000000, 1, 4)", tags={"kind": "budget"})

    def refused() -> httpx.Response | None:
        sent = post(etl, "SELECT 1", tags={"kind": "budget"})
        return sent if sent.status_code == 429 else None

    refusal = _found(refused)
    assert "global.etl" in problem(refusal, 429, "QUOTA_EXHAUSTED")["detail"]
    # 200 ms of the CPU time that it took come back in an hour.
    assert int(refusal.headers["Retry-After"]) > 60
    ask(etl, "SELECT 1")


def _final(client: httpx.Client, query_id: str) -> str | None:
    found = status(client, query_id, wait="20s")["status"]["state"]
    return None if found in ("QUEUED", "RUNNING") else found


def _waiting(client: httpx.Client) -> float:
    found = families(client.get("/metrics").raise_for_status().text)
    samples = [sample for family in found for sample in family.samples]
    return sum(sample.value for sample in samples if sample.name == "sluice_resource_group_queued")


def _found(probe: Callable[[], T | None], within_s: float = 60.0) -> T:
    """Polls until the probe returns something, and returns that."""
    found = until(probe, within_s)
    assert found is not None
    return found
