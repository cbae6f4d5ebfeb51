"""Single flight: one call at a time for each key; concurrent callers share its result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

from service.errors import FilterCollectionTimedOut

T = TypeVar("T")


class SharedCalls(Generic[T]):
    """Runs each call in the thread of its first caller.

    `personal` errors concern only the caller, not the call's key: the callers that waited start again, and
    one of them makes the next call.
    """

    def __init__(self, personal: tuple[type[Exception], ...]) -> None:
        self._personal = personal
        self._lock = threading.Lock()
        self._running: dict[str, Future[T]] = {}

    def join(self, key: str, call: Callable[[], T], within_s: float) -> tuple[T, bool]:
        """Returns the call's result, and whether this caller made the call.

        Raises:
            Exception: what the call raised, made by this caller or by another.
            FilterCollectionTimedOut: another's call did not end in time.
        """
        deadline = time.monotonic() + within_s
        while True:
            future, is_ours = self._future_of(key)
            if is_ours:
                return self._made(key, future, call), True
            if not wait([future], max(0.0, deadline - time.monotonic())).done:
                raise FilterCollectionTimedOut
            if not isinstance(future.exception(), self._personal):
                return future.result(), False

    def _future_of(self, key: str) -> tuple[Future[T], bool]:
        with self._lock:
            running = self._running.get(key)
            if running is not None:
                return running, False
            future = self._running[key] = Future()
            return future, True

    def _made(self, key: str, future: Future[T], call: Callable[[], T]) -> T:
        try:
            result = call()
        except BaseException as error:
            self._forget(key)
            future.set_exception(error)
            raise
        self._forget(key)
        future.set_result(result)
        return result

    def _forget(self, key: str) -> None:
        # Before the result is set: a caller that starts again must not find the call that has just ended.
        with self._lock:
            del self._running[key]
