"""Two gateways go from the code of an earlier commit to this one, one after the other, under load, and back.

SLUICE_UPGRADE_FROM names the commit. By default, its schema is one step older.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from tests.integration.asking import ask, status
from tests.integration.running import REPOSITORY
from tests.polling import until
from tests.rolling.earlier_code import before_the_last_migration, named, unpacked
from tests.rolling.load import CALENDAR, TABLE, Tally, ingest_of, load
from tests.rolling.place import CALLERS, Place, two_gateways

pytestmark = pytest.mark.skipif("SLUICE_UPGRADE_FROM" not in os.environ, reason="`make upgrade` runs it")

EACH_S = 20.0
OWN_IDS = (1 + CALLERS) * 1_000_000
"""Ids from here on belong to no caller of the load."""


@pytest.fixture(scope="module")
def earlier(folder: Path) -> Path:
    commit = os.environ["SLUICE_UPGRADE_FROM"] or before_the_last_migration()
    print(f"\nfrom {named(commit)}")  # noqa: T201
    return unpacked(commit, folder / "earlier")


@pytest.fixture(scope="module")
def place(folder: Path, earlier: Path) -> Iterator[Place]:
    with two_gateways(folder, earlier) as made:
        yield made


@pytest.mark.timeout(1800)
def test_no_request_fails_on_the_way_to_this_version_and_back(place: Place, earlier: Path) -> None:
    tally = Tally()
    steps: dict[str, Callable[[], None]] = {
        "the schema is new": place.migrate,
        "the first is new": partial(place.replace, 0),
        "both are new": partial(place.replace, 1),
        "the first is old again": partial(place.replace, 0, earlier),
        "both are old again": partial(place.replace, 1, earlier),
        "the second is new": partial(place.replace, 1),
    }
    with load(place.url, place.tokens, tally, base=1, is_patient=False):
        for step, take in steps.items():
            before, began_s = tally.requests, time.monotonic()
            take()
            took_s = time.monotonic() - began_s
            time.sleep(EACH_S)
            _check_that_they_understand_each_other(place)
            requests = tally.requests - before
            print(f"{step} after {took_s:.1f} s; {requests} requests, {tally.failed} failed so far")  # noqa: T201
    assert tally.failures == []
    place.check_records(tally.acknowledged)


def _check_that_they_understand_each_other(place: Place) -> None:
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(place.client(place.tokens[0], gateway)) for gateway in place.gateways
        )
        for here, there in ((first, second), (second, first)):
            _check_queries(here, there)
            _check_ingests(here, there)


def _check_queries(here: httpx.Client, there: httpx.Client) -> None:
    """Checks that a query of one gateway has a state and an explanation at the other, with its filters."""
    query_id = ask(here, CALENDAR)["queryId"]
    until(lambda: there.get(f"/query/{query_id}").status_code == 200, 10)
    assert status(there, query_id)["status"]["state"] == "SUCCEEDED"
    explained = [client.get(f"/explain/{query_id}") for client in (here, there)]
    assert [answer.status_code for answer in explained] == [200, 200], explained
    assert len({len(answer.json()["filters"]) for answer in explained}) == 1


def _check_ingests(here: httpx.Client, there: httpx.Client) -> None:
    """Checks that a request sent again to the other gateway is the same ingest, and in the table once."""
    record_id = OWN_IDS + uuid4().int % 1_000_000_000
    body = ingest_of(record_id)
    ingests = [client.post("/ingest", json=body) for client in (here, there)]
    assert {answer.status_code for answer in ingests} <= {200, 202}, [answer.text for answer in ingests]
    [ingest_id] = {answer.json()["ingestId"] for answer in ingests}
    until(lambda: there.get(f"/ingest/{ingest_id}").json()["state"] == "COMMITTED", 60)
    counted = ask(there, f"SELECT count(*) FROM {TABLE} WHERE id = {record_id}")
    assert counted["result"]["rows"] == [[1]]


def test_the_code_of_each_version_is_what_runs(place: Place, earlier: Path) -> None:
    folders = [Path(f"/proc/{gateway.process.pid}/cwd").readlink() for gateway in place.gateways]
    assert folders == [earlier, REPOSITORY]
