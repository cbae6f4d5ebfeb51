"""The threads of collectors say how many are in use, whatever becomes of a call."""

from __future__ import annotations

import threading

import pytest

from service.model.operations.usage import PoolUse
from service.query.filtering.collector_threads import CollectorThreads
from tests.polling import until


def test_calls_that_run_and_calls_that_wait_are_counted() -> None:
    threads, goes_on = CollectorThreads(1), threading.Event()
    running, waiting = threads.submit(goes_on.wait, 20), threads.submit(int, "7")
    given_up = threads.submit(int, "8")
    until(lambda: threads.use == PoolUse(1, 1, 2))
    assert given_up.cancel()
    assert threads.use == PoolUse(1, 1, 1)
    goes_on.set()
    assert (running.result(20), waiting.result(20)) == (True, 7)
    until(lambda: threads.use == PoolUse(0, 1, 0))
    threads.shutdown()


def test_a_call_that_fails_or_is_refused_is_counted_no_more() -> None:
    threads = CollectorThreads(1)
    with pytest.raises(ValueError, match="seven"):
        threads.submit(int, "seven").result(20)
    until(lambda: threads.use == PoolUse(0, 1, 0))
    threads.shutdown()
    with pytest.raises(RuntimeError):
        threads.submit(int, "7")
    assert threads.use == PoolUse(0, 1, 0)
