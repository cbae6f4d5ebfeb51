"""Callers take turns, however many queries each of them has waiting."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.query.workers.fair_turns import FairTurns, Turn

PER_CALLER = 3
CALLERS = st.sampled_from("abcde")


def test_a_single_query_goes_before_the_three_hundred_of_another_caller() -> None:
    turns: FairTurns[int] = FairTurns(running_per_caller=4)
    for number in range(300):
        turns.put("flood", number)
    first = turns.take()
    turns.put("single", 1000)
    assert first is not None
    turns.done(first)
    assert turns.take() == Turn("single", 1000)


def test_no_caller_takes_the_last_worker() -> None:
    turns: FairTurns[int] = FairTurns(running_per_caller=2)
    for number in range(3):
        turns.put("flood", number)
    assert [turns.take(), turns.take(), turns.take()] == [Turn("flood", 0), Turn("flood", 1), None]
    turns.put("single", 7)
    assert turns.take() == Turn("single", 7)


def test_nobody_has_a_turn_once_it_is_closed() -> None:
    turns: FairTurns[int] = FairTurns(running_per_caller=1)
    turns.put("a", 1)
    turns.close()
    assert turns.take() is None


def test_it_is_idle_once_nothing_runs() -> None:
    turns: FairTurns[int] = FairTurns(running_per_caller=1)
    turns.put("a", 1)
    assert turns.is_idle_within(0)
    turn = turns.take()
    assert turn is not None
    assert not turns.is_idle_within(0)
    turns.done(turn)
    assert turns.is_idle_within(0)


@given(st.lists(CALLERS, min_size=1, max_size=60))
def test_one_worker_serves_each_caller_once_before_it_serves_any_twice(callers: list[str]) -> None:
    turns: FairTurns[int] = FairTurns(running_per_caller=1)
    for number, caller in enumerate(callers):
        turns.put(caller, number)
    left = Counter(callers)
    while left:
        a_round = [_served(turns).caller for _ in range(len(left))]
        assert sorted(a_round) == sorted(left)
        left -= Counter(a_round)


def _served(turns: FairTurns[int]) -> Turn[int]:
    turn = turns.take()
    assert turn is not None
    turns.done(turn)
    return turn


class Workers(RuleBasedStateMachine):
    """Arrivals, starts and ends in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: FairTurns[int] = FairTurns(PER_CALLER)
        self.waiting: dict[str, list[int]] = {}
        self.running: list[Turn[int]] = []
        self.count = 0

    @rule(caller=CALLERS)
    def come(self, caller: str) -> None:
        self.count += 1
        self.turns.put(caller, self.count)
        self.waiting.setdefault(caller, []).append(self.count)

    @rule()
    def take(self) -> None:
        turn = self.turns.take()
        running = Counter(turn.caller for turn in self.running)
        may_go = [caller for caller, items in self.waiting.items() if items and running[caller] < PER_CALLER]
        if turn is None:
            assert not may_go
            return
        assert turn.caller in may_go
        assert running[turn.caller] == min(running[caller] for caller in may_go)
        assert turn.item == self.waiting[turn.caller].pop(0)
        self.running.append(turn)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        self.turns.done(self.running.pop(data.draw(st.integers(0, len(self.running) - 1))))

    @invariant()
    def nobody_runs_more_than_allowed(self) -> None:
        assert max(Counter(turn.caller for turn in self.running).values(), default=0) <= PER_CALLER


TestWorkers = Workers.TestCase
