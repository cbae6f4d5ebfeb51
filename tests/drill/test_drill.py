"""Whatever one caller sends, others are answered, or the gateway reports for a while that it is not ready.

`make drill` tries all of `inputs` and prints a table; `SLUICE_DRILL="texts rows"` names kinds of them. `make
test` tries the first one.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator

import pytest

from tests.drill.bystander import Bystander
from tests.drill.findings import HEADER, findings
from tests.drill.footprint import Footprint
from tests.drill.inputs import HOSTILE_INPUTS, KINDS
from tests.drill.place import NUMBERS, Place, a_place, wait
from tests.integration.asking import rows
from tests.polling import until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(900)]

ANSWERED_WITHIN_S = 5.0
READY_WITHIN_S = 60.0
# Bodies of one caller take half of 128 MiB and the memory to read them; answers take 256 MiB.
GROWS_BY_MIB = 768.0
CALM_S = 3.0
OVER_WITHIN_S = 240.0
# The gateway needs this long to notice that something runs on after its cancellation.
GRACE_S = 7.0
ASKED_FOR = os.environ.get("SLUICE_DRILL", "").split()
TRIED = [name for kind in ASKED_FOR for name in KINDS[kind]] or list(HOSTILE_INPUTS)[:1]


def say(line: str) -> None:
    sys.stderr.write(line + "\n")
    sys.stderr.flush()


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with a_place() as place:
        say(f"\nA start takes {place.started_s:.0f} s, a quiet answer {place.quiet_s:.2f} s at worst.")
        say(f"\n{HEADER}")
        yield place


@pytest.mark.parametrize("name", TRIED)
def test_another_caller_is_answered_or_informed_that_the_gateway_is_not_ready(
    place: Place, name: str
) -> None:
    # The bounds are for an idle machine; on a busy one, a quiet answer and a start take longer as well.
    allowed_s = ANSWERED_WITHIN_S + 2 * place.quiet_s
    with Bystander(place.bystander, lambda: next(NUMBERS)) as bystander:
        until(lambda: bystander.is_calm_for(CALM_S), OVER_WITHIN_S)
        begun = len(bystander.answers), len(bystander.probes), len(bystander.signs_of_life)
        with Footprint(place.gateway) as footprint:
            attack = threading.Thread(target=place.attack, args=(name,), daemon=True)
            attack.start()
            attack.join(OVER_WITHIN_S)
            until(place.is_over, OVER_WITHIN_S)
            wait(GRACE_S)
            until(place.is_over, OVER_WITHIN_S)
            until(lambda: bystander.is_calm_for(CALM_S), OVER_WITHIN_S)
    found = findings(bystander.answers[begun[0] :], bystander.probes[begun[1] :], allowed_s)
    lives = bystander.signs_of_life[begun[2] :]
    alive_s = max(life.took_s for life in lives)
    say(found.line(name, alive_s, footprint.grown_mib))
    assert not found.broken
    assert found.longest_s <= max(READY_WITHIN_S, 2 * place.started_s)
    assert all(life.is_right for life in lives)
    assert alive_s <= allowed_s
    assert footprint.grown_mib <= GROWS_BY_MIB
    sent = set(bystander.accepted)
    until(lambda: sent <= _stored(place), 60)


def _stored(place: Place) -> set[int]:
    text = "SELECT return_id FROM lake.drill.returns WHERE reason = 'drill'"
    return {number for (number,) in rows(place.bystander, text, rowLimit=1_000_000)}
