from __future__ import annotations

from datetime import timedelta

from service.adapters.filters.circuit import REST_MS, Circuit
from tests.fakes.clock import FakeClock

REST = timedelta(milliseconds=REST_MS)


def test_a_server_that_never_failed_is_always_asked() -> None:
    circuit = Circuit(FakeClock())
    assert [circuit.lets_through() for _ in range(3)] == [True] * 3


def test_after_a_failure_nobody_asks_until_it_has_rested_and_then_only_one() -> None:
    clock = FakeClock()
    circuit = Circuit(clock)
    circuit.note_failure()
    assert not circuit.lets_through()
    clock.advance(REST)
    assert [circuit.lets_through() for _ in range(3)] == [True, False, False]
    clock.advance(REST)
    assert [circuit.lets_through() for _ in range(3)] == [True, False, False]


def test_an_answer_lets_everyone_through_again() -> None:
    clock = FakeClock()
    circuit = Circuit(clock)
    circuit.note_failure()
    clock.advance(REST)
    assert circuit.lets_through()
    circuit.note_answer()
    assert [circuit.lets_through() for _ in range(3)] == [True] * 3
