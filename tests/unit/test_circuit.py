from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from service.circuit import Circuit
from service.errors.unavailable import MetricsStoreDown
from tests.fakes.clock import FakeClock

REST_MS = 1_000
REST = timedelta(milliseconds=REST_MS)


def test_a_server_that_never_failed_is_always_asked() -> None:
    circuit = Circuit(FakeClock(), REST_MS)
    assert [circuit.lets_through() for _ in range(3)] == [True] * 3


def test_after_a_failure_nobody_asks_until_it_has_rested_and_then_only_one() -> None:
    clock = FakeClock()
    circuit = Circuit(clock, REST_MS)
    circuit.note_failure()
    assert not circuit.lets_through()
    clock.advance(REST)
    assert [circuit.lets_through() for _ in range(3)] == [True, False, False]
    clock.advance(REST)
    assert [circuit.lets_through() for _ in range(3)] == [True, False, False]


def test_an_answer_lets_everyone_through_again() -> None:
    clock = FakeClock()
    circuit = Circuit(clock, REST_MS)
    circuit.note_failure()
    clock.advance(REST)
    assert circuit.lets_through()
    circuit.note_answer()
    assert [circuit.lets_through() for _ in range(3)] == [True] * 3


def test_who_asks_through_it_gets_the_answer_or_nothing() -> None:
    clock = FakeClock()
    circuit = Circuit(clock, REST_MS)

    def ask(question: Callable[[], str]) -> str | None:
        return circuit.ask(question, MetricsStoreDown)

    def fail() -> str:
        raise MetricsStoreDown

    assert ask(lambda: "answer") == "answer"
    assert ask(fail) is None
    assert ask(lambda: "not asked") is None
    clock.advance(REST)
    assert [ask(lambda: "back"), ask(lambda: "too")] == ["back", "too"]


class Calls(RuleBasedStateMachine):
    """Calls that overlap and end in any order, while time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.circuit = Circuit(self.clock, REST_MS)
        self.running = 0
        self.is_down = False
        self.closed_until_ms = 0

    @rule(ms=st.sampled_from([1, REST_MS - 1, REST_MS]))
    def wait(self, ms: int) -> None:
        self.clock.advance(timedelta(milliseconds=ms))

    @rule()
    def call(self) -> None:
        now_ms = self.clock.elapsed_ms()
        is_let_through = self.circuit.lets_through()
        assert is_let_through == (not self.is_down or now_ms >= self.closed_until_ms)
        self.running += is_let_through
        if self.is_down and is_let_through:
            # The next one tries only when this one has had its time.
            self.closed_until_ms = now_ms + REST_MS

    @precondition(lambda self: self.running)
    @rule()
    def fail(self) -> None:
        self.running -= 1
        self.is_down = True
        self.closed_until_ms = self.clock.elapsed_ms() + REST_MS
        self.circuit.note_failure()

    @precondition(lambda self: self.running)
    @rule()
    def answer(self) -> None:
        self.running -= 1
        self.is_down = False
        self.circuit.note_answer()


TestCalls = Calls.TestCase
