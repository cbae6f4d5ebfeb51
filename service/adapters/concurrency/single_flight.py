"""Waits for calls that may never end, without piling up threads behind them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    """Asks about many keys at once, within a bound; only one call per key runs at a time."""

    def __init__(self, ask: Callable[[str], T], errors: tuple[type[Exception], ...]) -> None:
        self._ask = ask
        self._errors = errors
        self._lock = threading.Lock()
        self._running: dict[str, Future[T]] = {}

    def answers(self, keys: Iterable[str], within_s: float) -> Iterator[tuple[str, T | None]]:
        """Yields each key with its answer; None if one of `errors` was raised or the time was up."""
        asked = {key: self._start(key) for key in keys}
        in_time, _ = wait(asked.values(), timeout=within_s)
        for key, future in asked.items():
            has_answer = future in in_time and not future.cancelled() and future.exception() is None
            yield key, future.result() if has_answer else None

    def _start(self, key: str) -> Future[T]:
        with self._lock:
            if running := self._running.get(key):
                return running
            future = self._running[key] = Future()
        # A daemon, because a call that hangs must not keep the process from ending.
        threading.Thread(target=self._run, args=(key, future), name=f"ask-{key}", daemon=True).start()
        return future

    def _run(self, key: str, future: Future[T]) -> None:
        try:
            future.set_result(self._ask(key))
        except self._errors as error:
            future.set_exception(error)
        finally:
            with self._lock:
                del self._running[key]
            # Only after an error that is not in `errors`: the waiting callers must not wait forever.
            if future.cancel():
                future.set_running_or_notify_cancel()
