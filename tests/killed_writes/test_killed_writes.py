"""Kills engines and gateways at random points of statements that write.

`make write-kills` kills `SLUICE_WRITE_KILLS` times and prints what became of the statements that ran. With
`SLUICE_WRITE_KILLS_SECONDS`, it ends after so many; `SLUICE_SOAK_SEED` makes another run. A kill costs a
start of Spark, so `make test` leaves it out.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from threading import Event, Thread

import pytest

from tests.killed_writes.changes import SCHEMA, SHAPES, Changes
from tests.killed_writes.place import KillPlace, a_kill_place
from tests.killed_writes.points import Point, points
from tests.killed_writes.tally import Tally
from tests.killed_writes.writer import Writer
from tests.polling import until

KILLS = int(os.environ.get("SLUICE_WRITE_KILLS", "0"))
SEED = int(os.environ.get("SLUICE_SOAK_SEED", "1"))
SECONDS = float(os.environ.get("SLUICE_WRITE_KILLS_SECONDS", "1e9"))
# The first statement of an engine takes long, so most kills wait until one has ended.
COLD_KILLS, WARM_WITHIN_S = 0.1, 900.0
ENGINE, BOTH, GATEWAY, CATALOG = "engine", "gateway and engine", "gateway", "connections to the catalog"
KILLING: dict[str, Callable[[KillPlace], None]] = {
    ENGINE: KillPlace.kill_engine,
    BOTH: KillPlace.kill_all,
    GATEWAY: KillPlace.kill_gateway,
    CATALOG: KillPlace.cut_catalog,
}
# An engine alone starts in less time than a gateway with its own, and connections in no time.
WAYS = (ENGINE, ENGINE, ENGINE, BOTH, GATEWAY, CATALOG, CATALOG)

pytestmark = pytest.mark.integration


@pytest.mark.skipif(not KILLS, reason="`make write-kills` does it")
@pytest.mark.timeout(100_000)
def test_statements_that_are_killed_happen_whole_and_once_or_not_at_all() -> None:
    chance, tally, began_s = random.Random(SEED), Tally(), time.monotonic()
    with a_kill_place() as place:
        places = points(place.database, place.folder / "warehouse")
        writers = _writers(place)
        place.ready()
        while tally.kills.total() < KILLS and time.monotonic() - began_s < SECONDS:
            _kill(place, writers, chance, places, tally)
            _say(str(tally))
        for writer in writers:
            writer.check_content()
        _say("\n".join(tally.lines()))
        _say(f"{sum(writer.done for writer in writers):6d}  statements that nothing interrupted")
    assert tally.interrupted, "no kill has met a statement"


def _writers(place: KillPlace) -> list[Writer]:
    tables = [(f"{SCHEMA}.t{number}", shape) for number, shape in enumerate(SHAPES)]
    return [
        Writer(table, Changes(table, SEED * 100 + number), place, place.make(table, shape))
        for number, (table, shape) in enumerate(tables)
    ]


def _kill(
    place: KillPlace, writers: list[Writer], chance: random.Random, places: Sequence[Point], tally: Tally
) -> None:
    ended, done = Event(), sum(writer.done for writer in writers)
    threads = [Thread(target=writer.write_until, args=(ended,)) for writer in writers]
    for thread in threads:
        thread.start()
    if chance.random() > COLD_KILLS:
        until(lambda: sum(writer.done for writer in writers) > done or not _any_alive(threads), WARM_WITHIN_S)
    way, point = chance.choice(WAYS), chance.choice(places)
    with point.reached(chance):
        KILLING[way](place)
    ended.set()
    for thread in threads:
        thread.join()
    place.ready()
    kill = f"{way} {point.name}"
    tally.kill(kill)
    for writer in writers:
        writer.check(kill, tally)


def _any_alive(threads: list[Thread]) -> bool:
    return any(thread.is_alive() for thread in threads)


def _say(text: str) -> None:
    sys.stderr.write(f"\n{text}")
    sys.stderr.flush()
