"""Callers of the same key share one call; generated orders of callers, ends and failures keep that."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from service.errors.query_errors import FilterCollectionTimedOut, QueryCanceled, QueryFailed
from service.single_flight import SingleFlight

PATIENCE_S = 20.0


class Shared:
    """Calls that run until the test ends them, and threads that join them."""

    def __init__(self) -> None:
        self.calls: SingleFlight[str, str] = SingleFlight((QueryCanceled,), FilterCollectionTimedOut)
        self.threads = ThreadPoolExecutor(10)
        self.made: list[str] = []
        self._begun = threading.Semaphore(0)
        self._may_end = threading.Event()

    def begin(self, result: str, failure: Exception | None = None) -> Future[tuple[str, bool]]:
        """Submits the first caller, and returns once its call runs."""
        first = self.threads.submit(self.calls.join, "k", lambda: self._call(result, failure), PATIENCE_S)
        assert self._begun.acquire(timeout=PATIENCE_S)
        return first

    def join(self, count: int, result: str) -> list[Future[tuple[str, bool]]]:
        """Submits this number of other callers, and returns once all of them wait."""
        [future] = self.calls._running.values()
        joined = [
            self.threads.submit(self.calls.join, "k", lambda: self._call(result, None), PATIENCE_S)
            for _ in range(count)
        ]
        patience = threading.Event()
        while len(future._waiters) < count:
            patience.wait(0.001)
        return joined

    def end(self) -> None:
        self._may_end.set()

    def _call(self, result: str, failure: Exception | None) -> str:
        self.made.append(result)
        self._begun.release()
        self._may_end.wait(PATIENCE_S)
        if failure is not None:
            raise failure
        return result


@pytest.fixture
def shared() -> Iterator[Shared]:
    shared = Shared()
    yield shared
    shared.end()
    shared.threads.shutdown()


def test_all_who_come_meanwhile_share_the_first_ones_call(shared: Shared) -> None:
    first = shared.begin("first")
    others = shared.join(5, "other")
    shared.end()
    assert first.result() == ("first", True)
    assert [other.result() for other in others] == [("first", False)] * 5
    assert shared.made == ["first"]


def test_a_failure_is_passed_to_all_who_waited_and_to_nobody_later(shared: Shared) -> None:
    first = shared.begin("first", QueryFailed("division by zero"))
    others = shared.join(5, "other")
    shared.end()
    for other in (first, *others):
        with pytest.raises(QueryFailed, match="division"):
            other.result()
    assert shared.calls.join("k", lambda: "later", 0) == ("later", True)


def test_after_a_personal_failure_one_of_those_who_waited_makes_the_next_call(shared: Shared) -> None:
    first = shared.begin("first", QueryCanceled())
    others = shared.join(5, "other")
    shared.end()
    with pytest.raises(QueryCanceled):
        first.result()
    assert {other.result()[0] for other in others} == {"other"}
    assert 1 <= shared.made.count("other") <= 5


def test_calls_of_other_keys_do_not_wait(shared: Shared) -> None:
    shared.begin("first")
    assert shared.calls.join("another", lambda: "at once", 0) == ("at once", True)


def test_who_has_no_time_left_is_rejected_and_the_call_goes_on(shared: Shared) -> None:
    first = shared.begin("first")
    with pytest.raises(FilterCollectionTimedOut):
        shared.calls.join("k", lambda: "other", 0)
    shared.end()
    assert first.result() == ("first", True)


def test_a_call_that_was_started_is_shared_by_all_who_start_or_join_it(shared: Shared) -> None:
    first = shared.begin("first")
    started = shared.calls.start("k", lambda: "other")
    assert not started.done()
    shared.end()
    assert (first.result(), started.result(PATIENCE_S)) == (("first", True), "first")
    assert shared.calls.start("k", lambda: "later").result(PATIENCE_S) == "later"


def test_a_call_that_finds_no_thread_fails_and_the_next_one_is_made() -> None:
    calls: SingleFlight[str, str] = SingleFlight()
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    assert isinstance(calls.start("k", lambda: "never", pool.submit).exception(), RuntimeError)
    assert calls.start("k", lambda: "later").result(PATIENCE_S) == "later"


def test_nobody_who_shares_an_outcome_can_cancel_it() -> None:
    may_end = threading.Event()
    calls: SingleFlight[str, bool] = SingleFlight()
    flight = calls.start("k", lambda: may_end.wait(PATIENCE_S))
    assert not flight.cancel()
    may_end.set()
    assert flight.result(PATIENCE_S)


KEYS = ("a", "b")


@dataclass
class Running:
    """A call that runs until the test ends it, and the callers that must share its outcome."""

    end: Future[int]
    is_started: bool
    joined: list[Future[tuple[int, bool]]] = field(default_factory=list)
    started: list[Future[int]] = field(default_factory=list)

    @property
    def all(self) -> list[Future[Any]]:
        return [*self.joined, *self.started]


class Flights(RuleBasedStateMachine):
    """Callers come and calls end in any order; the test waits after each step until all threads wait."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: SingleFlight[str, int] = SingleFlight((QueryCanceled,))
        self.threads = ThreadPoolExecutor(100)
        self.made: dict[str, list[Future[int]]] = {key: [] for key in KEYS}
        self.running: dict[str, Running] = {}

    @rule(key=st.sampled_from(KEYS))
    def join(self, key: str) -> None:
        joining = self.threads.submit(self.calls.join, key, lambda: self._call(key), PATIENCE_S)
        self._running(key, is_started=False).joined.append(joining)
        self._settle(key)

    @rule(key=st.sampled_from(KEYS))
    def start(self, key: str) -> None:
        started = self.calls.start(key, lambda: self._call(key))
        self._running(key, is_started=True).started.append(started)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def come_without_time(self, data: st.DataObject) -> None:
        with pytest.raises(TimeoutError):
            self.calls.join(data.draw(st.sampled_from(sorted(self.running))), lambda: -1, 0)

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def succeed(self, data: st.DataObject) -> None:
        self._succeed(data.draw(st.sampled_from(sorted(self.running))))

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        ended = self.running.pop(data.draw(st.sampled_from(sorted(self.running))))
        failure = QueryFailed("division by zero")
        ended.end.set_exception(failure)
        assert {future.exception(PATIENCE_S) for future in ended.all} == {failure}

    @precondition(lambda self: self.running)
    @rule(data=st.data())
    def cancel(self, data: st.DataObject) -> None:
        """Ends only the caller who made the call; one of those that joined makes the next."""
        key = data.draw(st.sampled_from(sorted(self.running)))
        ended = self.running.pop(key)
        ended.end.set_exception(QueryCanceled())
        await_that(lambda: sum(future.done() for future in ended.joined) == (not ended.is_started))
        canceled = [future for future in ended.joined if future.done()] + ended.started
        assert all(isinstance(future.exception(PATIENCE_S), QueryCanceled) for future in canceled)
        going_on = [future for future in ended.joined if future not in canceled]
        if going_on:
            self._running(key, is_started=False).joined = going_on
            self._settle(key)

    @invariant()
    def only_calls_that_are_shared_run(self) -> None:
        assert len(self.calls) == len(self.running)
        for key, made in self.made.items():
            assert [future for future in made if not future.done()] == [
                running.end for name, running in self.running.items() if name == key
            ]

    def teardown(self) -> None:
        for key in list(self.running):
            self._succeed(key)
        self.threads.shutdown()

    def _call(self, key: str) -> int:
        end: Future[int] = Future()
        self.made[key].append(end)
        return end.result(PATIENCE_S)

    def _running(self, key: str, *, is_started: bool) -> Running:
        if key not in self.running:
            ended_count = sum(future.done() for future in self.made[key])
            await_that(lambda: len(self.made[key]) > ended_count)
            self.running[key] = Running(self.made[key][-1], is_started)
        return self.running[key]

    def _settle(self, key: str) -> None:
        running = self.running[key]
        waiting_count = len(running.joined) - (not running.is_started)
        await_that(lambda: len(self.calls._running[key]._waiters) == waiting_count)

    def _succeed(self, key: str) -> None:
        ended = self.running.pop(key)
        ended.end.set_result(number := len(self.made[key]))
        assert {future.result(PATIENCE_S) for future in ended.started} <= {number}
        shared = [future.result(PATIENCE_S) for future in ended.joined]
        made_it = [] if ended.is_started else [(number, True)]
        assert sorted(shared, reverse=True) == made_it + [(number, False)] * (len(shared) - len(made_it))


def await_that(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


TestFlights = Flights.TestCase
TestFlights.settings = settings(max_examples=50, stateful_step_count=25, deadline=None)
