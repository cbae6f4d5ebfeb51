"""SQL that tries to leave SQL is refused over every protocol, for every role."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.integration.hostile_texts import HostileText, hostile_texts
from tests.integration.protocols.conftest import ROLES, Caller
from tests.integration.protocols.flight_speakers import FlightSpeaker
from tests.integration.protocols.hive_speakers import Binary, HiveSession, OverHttp
from tests.integration.protocols.judging import fault_in, nothing_changes
from tests.thorough import part_of

pytestmark = pytest.mark.integration

# HTTP gets each text of each role (`test_hostile_requests.py`). A part shows that no protocol differs.
TEXTS = part_of([text for text in hostile_texts() if not text.runs_in_sessions], 3)
OVERSIZE = HostileText(f"SELECT '{'x' * 300_000}'", frozenset({"SQL_TOO_LARGE"}))
AT_LEAST = 200
Run = Callable[[str], str]


@contextmanager
def speakers(caller: Caller) -> Iterator[list[tuple[str, Run]]]:
    with (
        HiveSession(Binary(caller)) as binary,
        HiveSession(OverHttp(caller)) as http,
        FlightSpeaker(caller) as flight_sql,
    ):
        yield [("binary", binary.run), ("HTTP", http.run), ("Flight SQL", flight_sql.run)]


def test_there_are_enough() -> None:
    assert len(TEXTS) * len(ROLES) >= AT_LEAST


def test_a_text_that_leaves_sql_is_refused(caller: Caller) -> None:
    """Each role sends all texts. The protocols take turns, so that each text goes through each of them."""
    faults = []
    with nothing_changes(caller), speakers(caller) as found:
        shift = ROLES.index(caller.role)
        for at, text in enumerate(TEXTS):
            protocol, run = found[(at + shift) % len(found)]
            told = run(text.sql)
            if fault := fault_in(told, text.codes):
                faults.append(f"{fault}: {protocol} {text.sql[:100]!r} -> {told[:200]}")
    assert not faults, "\n".join(faults)


def test_a_text_that_is_too_large_is_refused(caller: Caller) -> None:
    with nothing_changes(caller), speakers(caller) as found:
        for protocol, run in found:
            assert fault_in(run(OVERSIZE.sql), OVERSIZE.codes) == "", protocol
            assert run(OVERSIZE.sql[:1_000] + "'") == "", protocol
