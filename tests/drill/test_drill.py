"""Whatever one caller sends, another one is answered; or the gateway says that it is not ready, for a while.

`make drill` tries all of `hostile_inputs.py` and prints a table; `make test` tries the first one.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from tests.drill.bystander import Bystander
from tests.drill.findings import HEADER, findings
from tests.drill.hostile_inputs import HOSTILE_INPUTS
from tests.integration.asking import rows
from tests.integration.conftest import embedded_catalog
from tests.integration.lakehouse import RETURNS, make, returns_row
from tests.integration.running import RunningGateway, until

pytestmark = [pytest.mark.integration, pytest.mark.timeout(600)]

TOKENS = {"bystander": "bystanders-token-1a", "hostile": "hostiles-token-2b"}
SETTINGS = {
    "SLUICE_SPARK_MASTER": "local[2]",
    "SLUICE_SPARK_DRIVER_MEMORY": "1g",
    "SLUICE_API_TOKENS": str(
        {name: hashlib.sha256(token.encode()).hexdigest() for name, token in TOKENS.items()}
    ).replace("'", '"'),
    "SLUICE_ENGINE_PROBE_TIMEOUT_S": "3",
    "SLUICE_ENGINE_UNRESPONSIVE_S": "15",
}
ANSWERED_WITHIN_S = 5.0
READY_WITHIN_S = 60.0
CALM_S = 3.0
QUIET_S = 5.0
OVER_WITHIN_S = 240.0
IS_WHOLE = os.environ.get("SLUICE_DRILL") == "whole"
TRIED = list(HOSTILE_INPUTS) if IS_WHOLE else list(HOSTILE_INPUTS)[:1]


@dataclass(frozen=True, slots=True)
class Place:
    """Where the drill takes place. The bounds are those of an idle machine, times what this one is slower."""

    bystander: httpx.Client
    hostile: httpx.Client
    allowed_s: float
    ready_within_s: float
    lines: list[str]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="sluice-drill-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        began_s = time.monotonic()
        gateway = RunningGateway.start(folder / "data", SETTINGS)
        started_s = time.monotonic() - began_s
        stack.callback(gateway.kill)
        with closing(embedded_catalog(gateway.data_dir)) as lake:
            lake.create_namespace("drill")
            make(lake, "drill.returns", RETURNS).append(returns_row(0))
        bystander, hostile = (stack.enter_context(gateway.client_with(each)) for each in TOKENS.values())
        lines = [HEADER]
        quiet_s = _worst_when_quiet(bystander)
        ready_within_s = max(READY_WITHIN_S, 2 * started_s)
        yield Place(bystander, hostile, ANSWERED_WITHIN_S + 2 * quiet_s, ready_within_s, lines)
        sys.stderr.write("\n" + "\n".join(lines) + f"\n(started in {started_s:.0f} s; a quiet answer ")
        sys.stderr.write(f"takes {quiet_s:.2f} s at worst)\n")


NUMBERS = itertools.count(1)


def _worst_when_quiet(client: httpx.Client) -> float:
    with Bystander(client, lambda: next(NUMBERS)) as bystander:
        until(lambda: len(bystander.answers) >= QUIET_S / 0.25, within_s=120)
    return max(each.took_s for each in bystander.answers[3:])


@pytest.mark.parametrize("name", TRIED)
def test_another_caller_is_answered_or_told_that_the_gateway_is_not_ready(place: Place, name: str) -> None:
    with Bystander(place.bystander, lambda: next(NUMBERS)) as bystander:
        until(lambda: bystander.is_calm_for(CALM_S), OVER_WITHIN_S)
        begun = len(bystander.answers), len(bystander.probes)
        attack = threading.Thread(target=HOSTILE_INPUTS[name], args=(place.hostile,), daemon=True)
        attack.start()
        attack.join(OVER_WITHIN_S / 2)
        # What was given up is noticed some seconds after its end.
        threading.Event().wait(CALM_S)
        until(lambda: bystander.is_calm_for(2 * CALM_S), OVER_WITHIN_S)
    found = findings(bystander.answers[begun[0] :], bystander.probes[begun[1] :], place.allowed_s)
    place.lines.append(found.line(name))
    assert not found.broken
    assert found.longest_s <= place.ready_within_s
    kept = rows(place.bystander, "SELECT return_id FROM lake.drill.returns", rowLimit=1_000_000)
    assert set(bystander.accepted) <= {number for (number,) in kept}
