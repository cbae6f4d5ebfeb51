"""Tasks that are repeated until their worker is closed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from structlog.testing import capture_logs

from service.errors.unavailable import MetricsStoreDown
from service.periodic_worker import PeriodicWorker
from tests.polling import until

NEVER_S = 3_600.0


@contextmanager
def running(worker: PeriodicWorker) -> Iterator[PeriodicWorker]:
    worker.start()
    try:
        yield worker
    finally:
        assert worker.close(10)


def test_a_task_runs_at_once_and_again_when_it_is_woken() -> None:
    calls: list[str] = []
    with running(PeriodicWorker("w", lambda: calls.append(threading.current_thread().name), NEVER_S)) as one:
        until(lambda: calls == ["w"])
        one.wake()
        until(lambda: calls == ["w", "w"])


def test_a_task_that_waits_first_is_not_called_before_it_is_closed() -> None:
    calls: list[int] = []
    with running(PeriodicWorker("w", lambda: calls.append(1), NEVER_S, waits_first=True)):
        pass
    assert calls == []


def test_the_interval_is_asked_after_each_call() -> None:
    calls: list[int] = []

    def interval_s() -> float:
        return 0.0 if len(calls) < 5 else NEVER_S

    with running(PeriodicWorker("w", lambda: calls.append(1), interval_s)):
        until(lambda: len(calls) == 5)


@pytest.mark.parametrize(
    ("failure", "event"),
    [(MetricsStoreDown("no answer"), "periodic_work_failed"), (KeyError("x"), "periodic_work_crashed")],
)
def test_a_task_that_fails_is_logged_and_repeated(failure: Exception, event: str) -> None:
    calls: list[int] = []

    def task() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise failure

    with capture_logs() as logs, running(PeriodicWorker("w", task, 0.001)):
        until(lambda: len(calls) > 1)
    assert [(log["event"], log["worker"]) for log in logs] == [(event, "w")]


def test_work_that_arrives_during_a_call_is_done_right_after_it() -> None:
    is_in_call, may_go_on, calls = threading.Event(), threading.Event(), []

    def task() -> None:
        calls.append(1)
        is_in_call.set()
        may_go_on.wait(10)

    with running(PeriodicWorker("w", task, NEVER_S)) as worker:
        assert is_in_call.wait(10)
        worker.wake()
        may_go_on.set()
        until(lambda: len(calls) == 2)


def test_close_waits_for_the_running_call_and_then_for_what_runs_at_the_end() -> None:
    is_in_call, may_go_on, ended = threading.Event(), threading.Event(), []

    def task() -> None:
        is_in_call.set()
        may_go_on.wait(10)

    worker = PeriodicWorker("w", task, NEVER_S, at_end=lambda: ended.append(worker.is_closing))
    worker.start()
    assert is_in_call.wait(10)
    assert not worker.close(0.01)
    assert ended == []
    may_go_on.set()
    assert worker.close(10)
    assert ended == [True]


@pytest.mark.parametrize("how", [PeriodicWorker.close, PeriodicWorker.wake])
def test_a_worker_that_was_never_started_may_be_asked(how: Callable[[PeriodicWorker], object]) -> None:
    how(PeriodicWorker("w", lambda: None, NEVER_S))
