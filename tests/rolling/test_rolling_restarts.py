"""Two gateways behind one address are restarted in turn under load, and then one is killed."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.integration.asking import start, status
from tests.integration.replicas import killed
from tests.integration.running import ENDLESS
from tests.polling import until
from tests.rolling.load import TABLE, Tally, ingest_of, load
from tests.rolling.place import CALLERS, Place, two_gateways

pytestmark = pytest.mark.skipif("SLUICE_ROLLING" not in os.environ, reason="`make rolling` runs it")

RESTARTS = int(os.environ.get("SLUICE_ROLLING") or "10")
REQUESTS = 500 * RESTARTS
BETWEEN_S = 3.0
KILLED_AFTER_S = 5.0
ACCEPTED = 20
LOST_WITHIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Restart:
    """The times of a restart, and the number of requests answered during it."""

    gateway: int
    stop_s: float
    start_s: float
    requests: int


@pytest.fixture(scope="module")
def place(folder: Path) -> Iterator[Place]:
    with two_gateways(folder) as made:
        yield made


@pytest.mark.timeout(3600)
def test_gateways_are_restarted_in_turn_and_no_request_fails(place: Place) -> None:
    tally, restarts = Tally(), []
    with load(place.url, place.tokens, tally, base=1, is_patient=False):
        for turn in range(RESTARTS):
            time.sleep(BETWEEN_S)
            restarts.append(_restarted(place, turn % 2, tally))
        until(lambda: tally.requests >= REQUESTS, 1200)
    _print(place, tally, restarts)
    assert tally.failures == []
    assert tally.requests >= REQUESTS
    place.check_records(tally.acknowledged)


def _restarted(place: Place, number: int, tally: Tally) -> Restart:
    before, began_s = tally.requests, time.monotonic()
    assert place.gateways[number].stop(within_s=120) == 0
    stopped_s = time.monotonic()
    place.gateways[number] = place.start(number)
    ready_s = time.monotonic()
    return Restart(number + 1, stopped_s - began_s, ready_s - stopped_s, tally.requests - before)


@pytest.mark.timeout(1200)
def test_one_is_killed_and_what_it_accepted_is_committed_by_the_other(place: Place) -> None:
    tally = Tally()
    token = place.tokens[0]
    with ExitStack() as stack:
        killing = place.client(token, place.gateways[0])
        stack.callback(killing.close)
        other = stack.enter_context(place.client(token, place.gateways[1]))
        with load(place.url, place.tokens, tally, base=101, is_patient=True):
            time.sleep(KILLED_AFTER_S)
            query_id = start(killing, ENDLESS)
            accepted = _accepted(killing, tally)
            killed(place.gateways[0])
            began_s = time.monotonic()
            waiting = _waiting(other)
            until(lambda: status(other, query_id)["status"]["state"] == "FAILED", 2 * LOST_WITHIN_S)
            lost_s = time.monotonic() - began_s
            before = len(tally.acknowledged)
            until(lambda: len(tally.acknowledged) > before, 60)
        error = status(other, query_id)["status"]["error"]
    print(  # noqa: T201
        f"\nkill -9: {tally.requests} requests, {tally.failed} cut off and sent again;"
        f" {waiting} ingests waited, {accepted} had been accepted right before and nothing more;"
        f" REPLICA_LOST at the other one after {lost_s:.1f} s"
    )
    assert error["code"] == "REPLICA_LOST"
    assert lost_s <= LOST_WITHIN_S
    place.check_records(tally.acknowledged, base=101)


def _accepted(client: httpx.Client, tally: Tally) -> int:
    """Sends ingests that the gateway accepts, without waiting for their commits."""
    first = (101 + CALLERS) * 1_000_000 - ACCEPTED
    for record_id in range(first, first + ACCEPTED):
        answer = client.post("/ingest", json=ingest_of(record_id) | {"wait": "ACCEPTED"})
        assert answer.status_code == 202, answer.text
        tally.acknowledge(record_id)
    return ACCEPTED


def _waiting(client: httpx.Client) -> int:
    [summary] = client.get("/ingest/summary", params={"table": TABLE}).json()["tables"]
    waiting: int = summary["waiting"]
    return waiting


def _print(place: Place, tally: Tally, restarts: Sequence[Restart]) -> None:
    lines = ["", f"behind {place.front}", "", "| restart | gateway | stop, s | start, s | requests |"]
    lines.append("|---:|---:|---:|---:|---:|")
    for number, restart in enumerate(restarts, start=1):
        lines.append(
            f"| {number} | {restart.gateway} | {restart.stop_s:.1f} | {restart.start_s:.1f} "
            f"| {restart.requests} |"
        )
    lines += ["", "| request | came back | slowest, s |", "|---|---|---:|"]
    for kind in dict.fromkeys(kind for kind, _ in sorted(tally.answers)):
        outcomes = {outcome: count for (one, outcome), count in sorted(tally.answers.items()) if one == kind}
        reported = ", ".join(f"{outcome}: {count}" for outcome, count in outcomes.items())
        lines.append(f"| {kind} | {reported} | {tally.slowest_s[kind]:.2f} |")
    lines += ["", f"{tally.requests} requests, {tally.failed} failed", *tally.failures[:20]]
    print("\n".join(lines))  # noqa: T201
