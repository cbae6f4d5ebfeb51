"""Runs calls that may hang in parallel, without piling up threads behind them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future, wait
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCalls:
    """Runs at most `at_most` calls of a lane at a time, including calls whose callers have given up.

    A lane that hangs does not block other lanes. Unlike with `SingleFlight`, no answer is shared: each call
    starts after its caller asked.
    """

    def __init__(self, at_most: int, errors: tuple[type[Exception], ...]) -> None:
        self._at_most = at_most
        self._free: dict[str, threading.Semaphore] = {}
        self._errors = errors

    def answers(
        self, calls: Mapping[K, Callable[[], V]], lane_of: Callable[[K], str], within_s: float
    ) -> dict[K, V]:
        """Returns the answers given in time; calls that failed, or found no thread, are left out."""
        deadline = time.monotonic() + within_s
        running: dict[K, Future[V]] = {}
        # Calls that must wait for a thread come last, so that they delay no other.
        for wait_until in (time.monotonic(), deadline):
            for key in calls.keys() - running.keys():
                if self._is_free(lane_of(key), wait_until):
                    running[key] = self._started(calls[key], lane_of(key))
        wait(running.values(), timeout=max(0.0, deadline - time.monotonic()))
        return {key: future.result() for key, future in running.items() if _has_answer(future)}

    def _is_free(self, lane: str, deadline: float) -> bool:
        free = self._free.setdefault(lane, threading.Semaphore(self._at_most))
        return free.acquire(timeout=max(0.0, deadline - time.monotonic()))

    def _started(self, call: Callable[[], V], lane: str) -> Future[V]:
        future: Future[V] = Future()
        # A daemon, because a call that hangs must not keep the process from ending.
        threading.Thread(target=self._run, args=(call, lane, future), name=f"ask-{lane}", daemon=True).start()
        return future

    def _run(self, call: Callable[[], V], lane: str, future: Future[V]) -> None:
        try:
            future.set_result(call())
        except self._errors as error:
            future.set_exception(error)
        finally:
            self._free[lane].release()
            # Only after an error that is not in `errors`: the waiting callers must not wait forever.
            if future.cancel():
                future.set_running_or_notify_cancel()


def _has_answer(future: Future[V]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is None
