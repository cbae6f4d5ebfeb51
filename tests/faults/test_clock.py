"""The clock of the gateway, and of all that it has started, jumps a day ahead, and an hour back.

`make faults-clock` runs it with Debian's libfaketime; the stores keep the right time. What lasts is measured
by a clock that does not jump, so that only moments in records may tell.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.faults.place import TABLE, FaultPlace, a_fault_place
from tests.faults.test_faults import CALM_S, CALM_WITHIN_S, say
from tests.faults.watch import DOCUMENTED, Watch
from tests.integration.asking import explain, post, start, status
from tests.integration.running import SLOW, SLOW_ROWS, until

LIBRARY = os.environ.get("SLUICE_FAULTS_LIBFAKETIME", "")
pytestmark = [
    pytest.mark.integration,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not LIBRARY, reason="`make faults-clock` tries it"),
]

STAYS_S = 15.0
# libfaketime 0.9.10 takes the moment until which Python's sleep is to last for one of the faked clock.
SLEEPS = """
import select
import time

time.sleep = lambda seconds: select.select([], [], [], seconds) and None
"""


class FakeClock:
    """The file that libfaketime reads its offset from; whoever reads it never sees half of it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.jump(timedelta())

    def jump(self, offset: timedelta) -> None:
        new = self.path.with_suffix(".new")
        new.write_text(f"{offset.total_seconds():+.0f}s\n")
        new.rename(self.path)


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> FakeClock:
    return FakeClock(tmp_path_factory.mktemp("clock") / "offset")


@pytest.fixture(scope="module")
def place(clock: FakeClock) -> Iterator[FaultPlace]:
    (clock.path.parent / "sitecustomize.py").write_text(SLEEPS)
    faked = {
        "PYTHONPATH": str(clock.path.parent),
        "LD_PRELOAD": LIBRARY,
        "FAKETIME_TIMESTAMP_FILE": str(clock.path),
        "FAKETIME_NO_CACHE": "1",
        # As on a machine whose clock is set: CLOCK_MONOTONIC goes on.
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    with a_fault_place(more=faked) as place:
        yield place


@pytest.mark.parametrize("hours", [24, -1], ids=["a day ahead", "an hour back"])
def test_a_jump_of_the_clock_ends_no_query_and_loses_no_record(
    place: FaultPlace, clock: FakeClock, hours: int
) -> None:
    clock.jump(timedelta())
    client = place.gateway.client
    with Watch(place.gateway.url, TABLE) as watch:
        until(lambda: watch.is_calm_since(time.monotonic() - CALM_S), CALM_WITHIN_S)
        kept = post(client, "SELECT 7 AS seven").json()
        running = start(client, SLOW)
        began_s = time.monotonic()
        clock.jump(timedelta(hours=hours))
        until(lambda: time.monotonic() - began_s > STAYS_S, STAYS_S + 5)
        [[seen]] = post(client, "SELECT current_timestamp() AS now").json()["result"]["rows"]
        answer = status(client, running, wait="50s")
        again = status(client, kept["queryId"])
        explained = explain(client, kept["queryId"])
        until(lambda: watch.is_calm_since(time.monotonic() - CALM_S), CALM_WITHIN_S)
        clock.jump(timedelta())
        until(lambda: watch.is_calm_since(time.monotonic() - CALM_S), CALM_WITHIN_S)
    refusals = Counter(
        f"{each.kind} {each.status} {each.code}" for each in watch.since(began_s) if not each.is_right
    )
    offset = datetime.fromisoformat(seen) - datetime.now().astimezone()
    say(
        f"\n{hours:+d} h: Spark's clock is {offset.total_seconds() / 3600:+.1f} h off;"
        f" refusals: {dict(refusals) or 'none'}"
    )
    # So that the test cannot pass because nothing jumped.
    assert abs(offset - timedelta(hours=hours)) < timedelta(minutes=5)
    assert {each.status for each in watch.seen} <= DOCUMENTED, refusals
    assert not refusals
    assert answer["result"]["rows"] == SLOW_ROWS
    assert again["result"]["rows"] == [[7]]
    assert explained["state"] == "SUCCEEDED"
    assert max(each.took_s for each in watch.since(began_s)) < STAYS_S + 10
    until(lambda: set(watch.accepted) <= set(place.kept()), 60)
    numbers = place.kept()
    assert len(numbers) == len(set(numbers)), "a record is there twice"
