"""An executor without threads that can delay some of its calls."""

from __future__ import annotations

from collections.abc import Callable, Container
from concurrent.futures import Executor, Future
from typing import Any


class LateExecutor(Executor):
    """Makes each call at once, except those numbered in `late`, from 0 on, which wait for `catch_up`.

    Delayed calls count as running from their submission on, unless they are `queued`.
    """

    def __init__(self, late: Container[int], queued: bool = False) -> None:
        self._late = late
        self._queued = queued
        self._count = 0
        self._waiting: list[Callable[[], None]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def call() -> None:
            if self._queued and not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(fn(*args, **kwargs))
            except Exception as failure:  # noqa: BLE001  the result raises it, as in real executors
                future.set_exception(failure)

        if self._count in self._late:
            if not self._queued:
                future.set_running_or_notify_cancel()
            self._waiting.append(call)
        else:
            call()
        self._count += 1
        return future

    def catch_up(self) -> None:
        """Makes the delayed calls."""
        while self._waiting:
            self._waiting.pop(0)()
