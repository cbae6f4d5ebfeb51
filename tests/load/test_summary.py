"""The load's figures, checked with hand-made data."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.integration.running import RunningGateway
from tests.load.ledger import Ledger
from tests.load.memory import MemoryWatch
from tests.load.summary import summary_of

REQUESTS = [
    {"Name": "star", "Request Count": "90", "Failure Count": "1", "50%": "120", "95%": "480"},
    {"Name": "ingest arrow", "Request Count": "30", "Failure Count": "0", "50%": "N/A", "95%": ""},
    {"Name": "Aggregated", "Request Count": "120", "Failure Count": "1", "50%": "100", "95%": "400"},
]


@pytest.fixture
def memory() -> MemoryWatch:
    moments_s = [0.0, 300.0, 600.0]
    mib = {"gateway": [200.0, 300.0, 310.0], "JVM": [900.0, 1400.0, 1400.0], "readers": [80.0, 80.0, 80.0]}
    return MemoryWatch(
        RunningGateway.__new__(RunningGateway),
        moments_s,
        mib,
        {"gateway": 60.0, "JVM": 300.0, "readers": 3.0},
    )


def test_each_kind_has_its_count_and_each_part_what_it_took(memory: MemoryWatch) -> None:
    ledger = Ledger(refusals=Counter({"429 TOO_MANY_QUERIES": 2}), refused_kinds=Counter({"star": 2}))
    found = summary_of(12, REQUESTS, ledger, memory)
    assert [(kind.name, kind.count, kind.refused, kind.wrong) for kind in found.kinds] == [
        ("star", 90, 2, 1),
        ("ingest arrow", 30, 0, 0),
    ]
    assert [(kind.p50_ms, kind.p95_ms) for kind in found.kinds] == [(120, 480), (0, 0)]
    gateway = found.parts["gateway"]
    assert (gateway.start_mib, gateway.after_5_min_mib, gateway.end_mib) == (200, 300, 310)
    assert gateway.mib_per_hour == pytest.approx(120)
    assert (gateway.cpu_s, gateway.cores) == (60, 0.1)
    assert found.as_json()["seconds"] == 600
    row = "| mixture | 12 | 10 | 0.2 | 1g | 310 (+120) | 1,400 (+0) | 80 (+0) | 0.10 | 0.50 | 0.01 |"
    assert found.as_row("mixture", "1g") == row


def test_a_short_load_has_nothing_after_five_minutes(memory: MemoryWatch) -> None:
    memory.moments_s[:] = [0.0, 30.0, 60.0]
    assert summary_of(1, [], Ledger(), memory).parts["JVM"].after_5_min_mib is None
