from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from service.adapters.filters.shared_calls import SharedCalls
from service.errors import FilterCollectionTimedOut, QueryCanceled, QueryFailed

PATIENCE_S = 20.0


class Shared:
    """Calls that run until the test ends them, and threads that join them."""

    def __init__(self) -> None:
        self.calls: SharedCalls[str] = SharedCalls((QueryCanceled,))
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
    assert [each.result() for each in others] == [("first", False)] * 5
    assert shared.made == ["first"]


def test_a_failure_is_passed_to_all_who_waited_and_to_nobody_later(shared: Shared) -> None:
    first = shared.begin("first", QueryFailed("division by zero"))
    others = shared.join(5, "other")
    shared.end()
    for each in (first, *others):
        with pytest.raises(QueryFailed, match="division"):
            each.result()
    assert shared.calls.join("k", lambda: "later", 0) == ("later", True)


def test_after_a_personal_failure_one_of_those_who_waited_makes_the_next_call(shared: Shared) -> None:
    first = shared.begin("first", QueryCanceled())
    others = shared.join(5, "other")
    shared.end()
    with pytest.raises(QueryCanceled):
        first.result()
    assert {each.result()[0] for each in others} == {"other"}
    assert 1 <= shared.made.count("other") <= 5


def test_calls_of_other_keys_do_not_wait(shared: Shared) -> None:
    shared.begin("first")
    assert shared.calls.join("another", lambda: "at once", 0) == ("at once", True)


def test_who_has_no_time_left_is_told_so_and_the_call_goes_on(shared: Shared) -> None:
    first = shared.begin("first")
    with pytest.raises(FilterCollectionTimedOut):
        shared.calls.join("k", lambda: "other", 0)
    shared.end()
    assert first.result() == ("first", True)
