"""A task that is repeated in a thread of its own until it is closed."""

from __future__ import annotations

import threading
from collections.abc import Callable

import structlog

from service.errors.gateway_error import GatewayError

log = structlog.get_logger(__name__)


class PeriodicWorker:
    """Calls `task` at once and then `interval_s` after each return, in a daemon thread.

    `interval_s` may be a function, which is called after each run. A task that fails is logged and repeated:
    a `GatewayError` as one line, everything else with its traceback. Only `close` ends the thread. Any thread
    may call any method.
    """

    def __init__(
        self,
        name: str,
        task: Callable[[], None],
        interval_s: float | Callable[[], float],
        *,
        waits_first: bool = False,
        at_end: Callable[[], None] | None = None,
    ) -> None:
        """`waits_first`: the first call is `interval_s` after the start. `at_end` runs last in the thread."""
        self._name = name
        self._task = task
        self._interval_s = interval_s
        self._waits_first = waits_first
        self._at_end = at_end
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Starts the thread; call it once."""
        self._thread.start()

    @property
    def is_closing(self) -> bool:
        """Whether the worker was asked to end; a long task should check it."""
        return self._closing.is_set()

    def wake(self) -> None:
        """Repeats the task now, or right after the running call."""
        self._wake.set()

    def close(self, within_s: float = 0.0) -> bool:
        """Ends after the running call and waits for it at most `within_s`. Returns whether it has ended."""
        self._closing.set()
        self._wake.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(within_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        if self._waits_first:
            self._pause()
        while not self._closing.is_set():
            # This comes before the task: a thread that wakes the worker during the task has changed what it
            # may have read.
            self._wake.clear()
            if self._closing.is_set():
                break
            self._call(self._task)
            self._pause()
        if self._at_end is not None:
            self._call(self._at_end)

    def _pause(self) -> None:
        interval_s = self._interval_s
        self._wake.wait(interval_s if isinstance(interval_s, int | float) else interval_s())

    def _call(self, task: Callable[[], None]) -> None:
        try:
            task()
        except GatewayError as failure:
            log.warning("periodic_work_failed", worker=self._name, reason=failure.detail)
        except Exception:  # the outermost edge of a thread that must not end
            log.exception("periodic_work_crashed", worker=self._name)
