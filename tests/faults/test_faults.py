"""Parts that stop and lines that are slow or dead: waiting times, health, and the state afterwards.

`make faults` prints a table; SLUICE_FAULTS selects faults by a part of their names. It takes a quarter of an
hour, so `make test` leaves it out.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest

from tests.faults.faults import FAULTS
from tests.faults.place import TABLE, FaultPlace, a_fault_place
from tests.faults.watch import DOCUMENTED, Seen, Watch
from tests.polling import until

ASKED_FOR = os.environ.get("SLUICE_FAULTS", "")
TRIED = [name for name in FAULTS if ASKED_FOR == "all" or (ASKED_FOR and ASKED_FOR in name)]

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

CALM_S, CALM_WITHIN_S, RECOVERS_WITHIN_S, REPORTED_WITHIN_S = 4.0, 240.0, 120.0, 10.0
HEADER = f"{'fault':40s} {'reported, s':>11s} {'longest answer, s':>18s} {'recovered, s':>14s}  refusals"


def say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@pytest.fixture(scope="module")
def place() -> Iterator[FaultPlace]:
    with a_fault_place() as place:
        say(f"\n{HEADER}")
        yield place


@pytest.mark.skipif(not TRIED, reason="`make faults` tries it")
@pytest.mark.parametrize("name", TRIED or list(FAULTS)[:1])
def test_callers_are_answered_or_refused_and_nothing_that_was_accepted_is_lost(
    place: FaultPlace, name: str
) -> None:
    fault, process = FAULTS[name], place.gateway.process.pid
    with Watch(place.gateway.url, TABLE) as watch:
        until(lambda: watch.is_calm_since(time.monotonic() - CALM_S), CALM_WITHIN_S)
        began_s = time.monotonic()
        fault.does(place)
        repaired_s = time.monotonic()
        until(lambda: watch.is_calm_since(max(repaired_s, time.monotonic() - CALM_S)), CALM_WITHIN_S)
        calm_s = time.monotonic()
    meanwhile = [
        seen for seen in watch.seen if began_s <= seen.began_s + seen.took_s and seen.began_s <= calm_s
    ]
    reported_s = _reported_s(meanwhile, began_s, fault.parts)
    again_s = max(
        (answer.began_s + answer.took_s for answer in meanwhile if not answer.is_right), default=repaired_s
    )
    longest = max(meanwhile, key=lambda answer: answer.took_s)
    refusals = Counter(
        f"{answer.kind} {answer.status} {answer.code}".strip() for answer in meanwhile if not answer.is_right
    )
    say(
        f"{name:40s} {reported_s:11.1f} {longest.took_s:11.1f} {longest.kind:>6s}"
        f" {max(0.0, again_s - repaired_s):14.1f}  {_shown(refusals)}"
    )
    assert place.gateway.process.pid == process
    assert place.gateway.process.poll() is None
    assert {answer.status for answer in meanwhile} <= DOCUMENTED, refusals
    assert not {answer.kind for answer in meanwhile if not answer.is_right} & fault.unaffected, refusals
    assert longest.took_s <= fault.waits_s, longest
    assert reported_s <= REPORTED_WITHIN_S
    assert again_s - repaired_s <= RECOVERS_WITHIN_S
    until(lambda: set(watch.accepted) <= set(place.stored()), 60)
    numbers = place.stored()
    assert len(numbers) == len(set(numbers)), "a record is there twice"


def _reported_s(meanwhile: Sequence[Seen], began_s: float, parts: frozenset[str]) -> float:
    """Returns the time until health reported all these parts as down; 0 if there are none."""
    if not parts:
        return 0.0
    answers = [
        answer for answer in meanwhile if answer.kind == "readyz" and answer.body and "parts" in answer.body
    ]
    reported = [answer for answer in answers if parts <= _down(answer)]
    assert reported, [_down(answer) for answer in answers]
    return min(seen.began_s + seen.took_s for seen in reported) - began_s


def _down(answer: Seen) -> set[str]:
    return {name for name, part in answer.body["parts"].items() if part["state"] != "UP"}


def _shown(refusals: Counter[str]) -> str:
    return ", ".join(f"{count} × {what}" for what, count in sorted(refusals.items())) or "none"
