"""Kills engines and gateways at random points of statements that write.

`make write-kills` kills `SLUICE_WRITE_KILLS` times and prints what became of the statements that ran. With
`SLUICE_WRITE_KILLS_SECONDS`, it ends after so many. A kill costs a start of Spark, so `make test` leaves it
out.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from threading import Event, Thread

import pytest

from tests.killed_writes.changes import SCHEMA, Changes
from tests.killed_writes.place import KillPlace, a_kill_place
from tests.killed_writes.writer import Writer
from tests.polling import until

KILLS = int(os.environ.get("SLUICE_WRITE_KILLS", "0"))
SEED = int(os.environ.get("SLUICE_SOAK_SEED", "1"))
SECONDS = float(os.environ.get("SLUICE_WRITE_KILLS_SECONDS", "1e9"))
WRITERS = 4
LONGEST_PAUSE_S = 4.0
# The first statement of an engine takes long, so most kills wait until one has ended.
COLD_KILLS, WARM_WITHIN_S = 0.25, 300.0
WAYS: tuple[tuple[str, Callable[[KillPlace], None]], ...] = (
    ("engine", KillPlace.kill_engine),
    ("engine", KillPlace.kill_engine),
    ("gateway and engine", KillPlace.kill_all),
    ("gateway", KillPlace.kill_gateway),
)

pytestmark = pytest.mark.integration


@pytest.mark.skipif(not KILLS, reason="`make write-kills` does it")
@pytest.mark.timeout(100_000)
def test_statements_that_are_killed_happen_whole_and_once_or_not_at_all() -> None:
    chance, seen, began_s = random.Random(SEED), Counter[str](), time.monotonic()
    with a_kill_place() as place:
        writers = [
            Writer(f"{SCHEMA}.t{number}", Changes(f"{SCHEMA}.t{number}", SEED * 100 + number), place, seen)
            for number in range(WRITERS)
        ]
        place.ready()
        for number in range(KILLS):
            if time.monotonic() - began_s > SECONDS:
                break
            way, kill = chance.choice(WAYS)
            _killed(place, writers, kill, chance)
            seen["kills"] += 1
            seen[f"kills of {way}"] += 1
            _say(number + 1, seen)
        for writer in writers:
            writer.check_refused()
        seen["statements that nothing interrupted"] = sum(writer.done for writer in writers)
        for what, count in sorted(seen.items()):
            sys.stderr.write(f"{count:6d}  {what}\n")
    assert seen["interrupted"], "no kill has met a statement"


def _killed(
    place: KillPlace, writers: list[Writer], kill: Callable[[KillPlace], None], chance: random.Random
) -> None:
    ended, done = Event(), sum(writer.done for writer in writers)
    threads = [Thread(target=writer.write_until, args=(ended,)) for writer in writers]
    for thread in threads:
        thread.start()
    if chance.random() > COLD_KILLS:
        until(lambda: sum(writer.done for writer in writers) > done or not _any_alive(threads), WARM_WITHIN_S)
    Event().wait(chance.uniform(0, LONGEST_PAUSE_S))
    kill(place)
    ended.set()
    for thread in threads:
        thread.join()
    place.ready()
    for writer in writers:
        writer.check()


def _any_alive(threads: list[Thread]) -> bool:
    return any(thread.is_alive() for thread in threads)


def _say(number: int, seen: Counter[str]) -> None:
    counts = ", ".join(f"{count} × {what}" for what, count in sorted(seen.items()) if ":" in what)
    sys.stderr.write(f"\nkill {number}: {seen['interrupted']} statements interrupted: {counts}")
    sys.stderr.flush()
