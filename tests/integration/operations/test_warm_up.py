"""An engine that replaces a lost one runs what was asked before."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.asking import ask
from tests.integration.running import RunningGateway
from tests.polling import until

pytestmark = pytest.mark.integration

FREQUENT = "SELECT id % 3 AS k, count(*) FROM range(100) GROUP BY 1"


@pytest.fixture(scope="module")
def warming(folder: Path) -> Iterator[RunningGateway]:
    gateway = RunningGateway.start(folder / "warming", {"SLUICE_WARM_UP_QUERIES": "1"})
    yield gateway
    gateway.stop()


def _warmed(gateway: RunningGateway) -> list[int]:
    return [line["queries"] for line in gateway.log_lines() if line["event"] == "engine_warmed_up"]


def test_a_new_engine_runs_the_most_frequent_query(warming: RunningGateway) -> None:
    until(lambda: _warmed(warming) == [0])
    for sql in (FREQUENT, FREQUENT, "SELECT 1"):
        ask(warming.client, sql)
    jvm = warming.jvm()
    assert jvm is not None
    jvm.send_signal(signal.SIGKILL)
    until(lambda: _warmed(warming) == [0, 1], 120)
    # Callers did not ask it, and their list does not have it.
    listed = warming.client.get("/query").json()["queries"]
    assert [query["sql"] for query in listed] == ["SELECT 1", FREQUENT, FREQUENT]
